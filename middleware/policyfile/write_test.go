package policyfile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestWhatIsWrittenSaysTheSame(t *testing.T) {
	imported, _, err := policyfile.ImportServiceConfig("service.json", []byte(serviceConfig))
	if err != nil {
		t.Fatal(err)
	}
	golden, err := parseFile(t, "policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	odd, err := policyfile.Parse("policies.yaml", []byte(withFaults+`
  "on": {extends: none}
  "7": {match: [{host: "*"}, {host: "*.a:80", method: [GET], route: "/{x}/{y...}"}], retry: {budget: off, base: 0}}
  rated: {bulkhead: {limit: off, rate: {per_second: 0.5}}, propagate: {hosts: ["*"]}, http: {replay_limit: 0}}
server: {deadline: {cap: off}, bulkhead: off}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*policyfile.Policies{"imported": imported, "golden": golden, "odd": odd} {
		var b strings.Builder
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := policyfile.Parse("again.yaml", []byte(b.String()))
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, &b)
		}
		if !reflect.DeepEqual(p.Names(), again.Names()) {
			t.Errorf("%s: %v, want %v", name, again.Names(), p.Names())
		}
		for target := range p.All {
			if got := again.Target(target.Name); !reflect.DeepEqual(got, *target) {
				t.Errorf("%s: %s is\n%+v, want\n%+v in\n%s", name, target.Name, got, *target, &b)
			}
		}
		if !reflect.DeepEqual(p.Server(), again.Server()) {
			t.Errorf("%s: the server is %+v, want %+v", name, again.Server(), p.Server())
		}
		for _, q := range []policyfile.Request{
			{Host: "pay.example.com", Method: "POST", Path: "/v1/charges/7"}, {Host: "b.a:80", Method: "GET", Path: "/x/y"}, {GRPC: "/search.v1.Search/Find"},
		} {
			if got, want := again.Match(q), p.Match(q); (got == nil) != (want == nil) || got != nil && got.Name != want.Name {
				t.Errorf("%s: %+v is matched by %v, want %v", name, q, got, want)
			}
		}
		if full := p.Write(writer{errors.New("disk full")}); full == nil {
			t.Errorf("%s: it cannot be written, and nobody knows", name)
		}
	}
}
