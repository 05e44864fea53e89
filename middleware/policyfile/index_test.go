package policyfile

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
)

// The index finds what a look at every pattern finds, in order.
func TestTheIndexFindsWhatALookAtAllPatternsFinds(t *testing.T) {
	hosts := []string{"*", "a.test", "b.a.test", "*.test", "*.a.test", "*:80", "a.test:80", "*.a.test:80"}
	routes := []string{"", "/", "/a", "/a/", "/{x}", "/a/{x}", "/{x}/b", "/{x...}", "/a/{x...}", "/a/b/c"}
	services := []string{"", "s.A", "s.A/Get", "s.B"}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString("targets:\n")
		for i := range rapid.IntRange(1, 12).Draw(t, "targets") {
			fmt.Fprintf(&text, "  t%d: {match: {host: %q", i, rapid.SampledFrom(hosts).Draw(t, "host"))
			if service := rapid.SampledFrom(services).Draw(t, "service"); service != "" {
				fmt.Fprintf(&text, ", grpc: %s", service)
			} else {
				if route := rapid.SampledFrom(routes).Draw(t, "route"); route != "" {
					fmt.Fprintf(&text, ", route: %q", route)
				}
				text.WriteString(rapid.SampledFrom([]string{"", ", method: GET", ", method: [POST, PUT]"}).Draw(t, "method"))
			}
			text.WriteString("}}\n")
		}
		r := &reader{faults: faults{file: "x.yaml"}}
		f := r.top(r.document([]byte(text.String())))
		var all []*definition
		resolved := map[string]*resolved{}
		for name, d := range f.targets {
			all = append(all, d)
			target := middleware.Standard(name)
			resolved[name] = resolvedTarget(&target)
		}
		sorted := r.sorted(all)
		if r.err() != nil {
			t.Skip("two targets match the same")
		}
		x := newIndex(sorted, resolved)
		for range 20 {
			q := Request{
				Host:   rapid.SampledFrom([]string{"", "a.test", "A.Test:80", "b.a.test", "c.b.a.test:80", "test", ".test", "elsewhere:81"}).Draw(t, "q.host"),
				Method: rapid.SampledFrom([]string{"", "GET", "POST"}).Draw(t, "q.method"),
			}
			if rapid.Bool().Draw(t, "rpc") {
				q.GRPC = rapid.SampledFrom([]string{"/s.A/Get", "s.A/Put", "/s.B/Get", "/s.C/Get", "/s.A"}).Draw(t, "q.rpc")
			} else {
				q.Path = rapid.SampledFrom([]string{"", "/", "/a", "/a/", "/a/b", "/a/b/c", "//b", "/b/b", "/x/y/z/"}).Draw(t, "q.path")
			}
			got, want := "", looked(sorted, q)
			if target := x.find(q); target != nil {
				got = target.Name
			}
			if got != want {
				t.Fatalf("%+v: found %q, want %q in\n%s", q, got, want, &text)
			}
		}
	})
}

// looked returns the name of the first pattern that matches.
func looked(sorted []pattern, q Request) string {
	for _, p := range sorted {
		if matchesHost(p, q.Host) && p.matchesMethod(q.Method) && matchesRoute(p, q.Path) && matchesGRPC(p, q.GRPC) {
			return p.target
		}
	}
	return ""
}

func matchesHost(p pattern, s string) bool {
	host, port := cutPort(strings.ToLower(s))
	if p.port != "" && p.port != port {
		return false
	}
	if tail, many := strings.CutPrefix(p.host, "*"); many {
		return tail == "" || len(host) > len(tail) && strings.HasSuffix(host, tail)
	}
	return p.host == host
}

func matchesRoute(p pattern, path string) bool {
	if p.route == nil {
		return true
	}
	rooted, ok := strings.CutPrefix(path, "/")
	if !ok {
		return false
	}
	segments := strings.Split(rooted, "/")
	for i, want := range p.route {
		switch {
		case segmentOf(want) == rest:
			return i < len(segments)
		case i >= len(segments),
			segmentOf(want) == parameter && segments[i] == "",
			segmentOf(want) == literal && segments[i] != want:
			return false
		}
	}
	return len(segments) == len(p.route)
}

func matchesGRPC(p pattern, name string) bool {
	if p.service == "" {
		return true
	}
	service, rpc, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return service == p.service && (p.rpc == "" || p.rpc == rpc)
}

// thousand is a file of a thousand targets with a tenth of everything.
func thousand(t testing.TB) *Policies {
	t.Helper()
	var b strings.Builder
	b.WriteString("targets:\n")
	for i := range 1000 {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "  t%d: {match: {host: h%d.example.com}}\n", i, i)
		case 1:
			fmt.Fprintf(&b, "  t%d: {match: {host: api.example.com, route: \"/v1/r%d/{id}\", method: GET}}\n", i, i)
		case 2:
			fmt.Fprintf(&b, "  t%d: {match: {grpc: pkg.v1.S%d/Get}}\n", i, i)
		case 3:
			fmt.Fprintf(&b, "  t%d: {match: {host: \"*.z%d.example.com\"}}\n", i, i)
		}
	}
	p, err := Parse("policies.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var lookups = map[string]Request{
	"host":   {Host: "h500.example.com:443", Method: "GET", Path: "/"},
	"route":  {Host: "api.example.com", Method: "GET", Path: "/v1/r501/7"},
	"grpc":   {Host: "stock:443", GRPC: "/pkg.v1.S502/Get"},
	"suffix": {Host: "a.z503.example.com", Method: "GET", Path: "/"},
	"none":   {Host: "elsewhere", Method: "GET", Path: "/"},
}

func TestALookupAllocatesNothing(t *testing.T) {
	p := thousand(t)
	for name, q := range lookups {
		want := map[string]string{"host": "t500", "route": "t501", "grpc": "t502", "suffix": "t503"}[name]
		if got := p.Match(q); (got == nil) != (want == "") || got != nil && got.Name != want {
			t.Errorf("%s: %+v", name, got)
		}
		testkit.Allocs(t, 0, func() { p.Match(q) })
	}
}

func BenchmarkMatch(b *testing.B) {
	p := thousand(b)
	for name, q := range lookups {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Match(q)
			}
		})
	}
}
