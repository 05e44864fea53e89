package policyfile

import (
	"slices"
	"strings"
)

// Request is what tells which target a call belongs to. Fields that are not
// known, or do not apply, are empty.
type Request struct {
	// Host is the host that is called, with its port if the URL has one, or
	// the authority of a gRPC call.
	Host string
	// Method is the HTTP method.
	Method string
	// Path is the path of the URL, without its query, or the template of the
	// route that it belongs to.
	Path string
	// GRPC is the full name of a gRPC method, /service/method.
	GRPC string
}

// sorted returns the patterns of all targets, the most specific first, and
// reports those between which nothing decides.
func (r *reader) sorted(targets []*definition) []pattern {
	var all []pattern
	for _, d := range targets {
		for _, p := range d.patterns {
			if p.target = d.name; !p.broken {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, compare)
	r.undecided(all)
	return all
}

// undecided reports the patterns that match what one of another target matches,
// neither being more specific.
func (r *reader) undecided(all []pattern) {
	type claim struct{ kind, method string }
	first := make(map[claim]pattern)
	for _, p := range all {
		methods := p.methods
		if methods == nil {
			methods = []string{""}
		}
		for _, m := range methods {
			c := claim{p.kind(), m}
			q, taken := first[c]
			switch {
			case !taken:
				first[c] = p
			case q.target != p.target:
				r.add(p.at, "make one of them more specific", "target %s matches the same requests, in line %d", q.target, q.at.line)
			}
		}
	}
}

// matches reports whether q is one of p's.
func (p pattern) matches(q Request) bool {
	return p.matchesHost(q.Host) && p.matchesMethod(q.Method) && p.matchesRoute(q.Path) && p.matchesGRPC(q.GRPC)
}

func (p pattern) matchesHost(s string) bool {
	if p.host == "*" && p.port == "" {
		return true
	}
	host, port := cutPort(strings.ToLower(s))
	if p.port != "" && p.port != port {
		return false
	}
	if tail, many := strings.CutPrefix(p.host, "*"); many {
		return len(host) > len(tail) && strings.HasSuffix(host, tail)
	}
	return p.host == host
}

func (p pattern) matchesMethod(m string) bool {
	return p.methods == nil || slices.Contains(p.methods, m)
}

func (p pattern) matchesRoute(path string) bool {
	if p.route == nil {
		return true
	}
	left, ok := strings.CutPrefix(path, "/")
	for i, want := range p.route {
		if segmentOf(want) == rest {
			return ok
		}
		if !ok {
			return false
		}
		var segment string
		segment, left, ok = strings.Cut(left, "/")
		if segmentOf(want) == literal && segment != want || segmentOf(want) == parameter && segment == "" {
			return false
		}
		if i == len(p.route)-1 && ok {
			return false // there is more
		}
	}
	return true
}

func (p pattern) matchesGRPC(name string) bool {
	if p.service == "" {
		return true
	}
	service, rpc, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return service == p.service && (p.rpc == "" || p.rpc == rpc)
}
