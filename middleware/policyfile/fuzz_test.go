package policyfile_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// FuzzParse: no file makes Parse panic; each is refused with faults that lie in
// it, or gives targets that pipelines can be built from.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"faults.yaml", "policies.yaml", "syntax.yaml", "tabs.yaml"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(false, data)
	}
	for _, text := range []string{
		"", "a", "targets:", "targets: {a: {match: [[]]}}", "targets: &x {a: *x}", "targets: {a: &x [*x]}",
		"? {a: b}\n: c", "<<: {targets: {a: on}}", "targets: {a: on}\n---\ntargets: {b: on}", "\xff\xfe", "%YAML 1.2\n---\ntargets: {a: on}",
		"profiles: {a: {extends: b}, b: {extends: a}}\ntargets: {c: {extends: a}}", "targets: {a: {keys: {max: 9223372036854775807}}}",
		"targets: {a: {retry: {cap: 2562047h, base: 2562047h, max_attempts: 100}, deadline: {total: 2562047h}}}",
		"targets: {a: {match: {route: '/{...}/{a...}', host: ':'}}}", "targets: {a: {match: {grpc: /}}}",
	} {
		f.Add(false, []byte(text))
	}
	f.Add(true, []byte(`{"targets": {"a": {"retry": {"budget": "off"}}}}`))
	f.Add(true, []byte(`{"targets": }`))
	f.Fuzz(func(t *testing.T, isJSON bool, data []byte) {
		name := "policies.yaml"
		if isJSON {
			name = "policies.json"
		}
		p, err := policyfile.Parse(name, data)
		if err != nil {
			e, ok := errors.AsType[*policyfile.Error](err)
			if !ok || len(e.Faults) == 0 || e.Error() == "" {
				t.Fatalf("not an Error with faults: %#v", err)
			}
			return
		}
		for _, name := range p.Names() {
			if _, err := middleware.New(p.Target(name)); err != nil {
				t.Fatalf("%s was taken, but cannot be built: %v", name, err)
			}
		}
		p.Match(policyfile.Request{Host: "a:80", Method: "GET", Path: "/a/b", GRPC: "/a/b"})
		if err := p.Explain(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzImportServiceConfig: no document makes it panic, and what it takes can be
// built.
func FuzzImportServiceConfig(f *testing.F) {
	f.Add([]byte(serviceConfig))
	f.Add([]byte(`{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 2}}, 1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, _, err := policyfile.ImportServiceConfig("service.json", data)
		if err != nil {
			if !errors.Is(err, policyfile.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		for _, name := range p.Names() {
			if _, err := middleware.New(p.Target(name)); err != nil {
				t.Fatalf("%s was taken, but cannot be built: %v", name, err)
			}
		}
		if err := p.Explain(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}
