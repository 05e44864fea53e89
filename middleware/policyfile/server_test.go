package policyfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestAFileMayConfigureTheServer(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte(`
server:
  name: orders
  deadline: {cap: 30s, minimum: 50ms}
  timeout: 20s
  bulkhead: {limit: 100, adaptive: off, priorities: on}
  priority_header: x-priority
  idempotency: {required: true, retention: 48h, max_answer: 1MiB}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Server()
	if s.Name != "orders" || s.Deadline.Cap != 30*time.Second || s.Timeout != 20*time.Second ||
		s.Bulkhead.Limit != 100 || s.Bulkhead.Adaptive != nil || s.Bulkhead.Priorities == nil ||
		!s.Idempotency.Required || s.Idempotency.MaxAnswer != 1<<20 {
		t.Errorf("got %+v", s)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Bulkhead.Limit = 7
	if p.Server().Bulkhead.Limit != 100 {
		t.Error("a change of the server shows in the next")
	}
	var b strings.Builder
	if err := p.Explain(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"server ", "cap                30s", "built-in standard", "priority_header"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}

func TestAServerIsTheStandardOneUnlessTheFileSaysMore(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		full bool
	}{
		"no section":      {"targets: {a: on}", true},
		"on":              {"server: on", true},
		"extends nothing": {"server: {extends: none}", false},
	} {
		p, err := policyfile.Parse("policies.yaml", []byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, ok := p.LookupServer(); ok == (name == "no section") {
			t.Errorf("%s: there is a server: %v", name, ok)
		}
		if s := p.Server(); s.Name != "server" || (s.Bulkhead != nil) != c.full || (s.Deadline != nil) != c.full {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestATimeoutMayBeADurationForTargetsAsForTheServer(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte(`
profiles: {quick: {timeout: {after: 1s, abandon: true}}}
targets: {a: {timeout: 500ms}, b: {extends: quick, timeout: 2s}, c: {timeout: off}}
server: {timeout: 3s}
`))
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := p.Target("a").Timeout, p.Target("b").Timeout, p.Target("c").Timeout
	if a == nil || a.After != 500*time.Millisecond || a.Abandon {
		t.Errorf("a has %+v", a)
	}
	if b == nil || b.After != 2*time.Second || !b.Abandon {
		t.Errorf("b has %+v: a duration leaves the rest as it is", b)
	}
	if c != nil || p.Server().Timeout != 3*time.Second {
		t.Errorf("c has %+v, the server %v", c, p.Server().Timeout)
	}
}

func TestFaultsOfAServerAreToldAtOnce(t *testing.T) {
	_, err := policyfile.Parse("policies.yaml", []byte(`server:
  extends: standrad
  deadlin: on
  timeout: 2m
  deadline: {cap: 1m}
  priority_header: x-priority
  match: {host: a}
`))
	e, ok := errors.AsType[*policyfile.Error](err)
	if !ok {
		t.Fatal(err)
	}
	for i, want := range []string{
		"policies.yaml:2:12: server.extends: there is no server standrad to extend (did you mean standard?)",
		"policies.yaml:3:3: server.deadlin: unknown key (did you mean deadline?)",
		"policies.yaml:4:12: server.timeout: 2m contradicts other values (must be at most deadline.cap, which is 1m0s: a handler cannot outlast its request)",
		"policies.yaml:6:20: server.priority_header: x-priority contradicts other values",
		"policies.yaml:7:3: server.match: key does not belong here (the server is for all requests: match belongs to a target)",
	} {
		if i >= len(e.Faults) || !strings.HasPrefix(e.Faults[i].Error(), want) {
			t.Fatalf("fault %d is not %s in\n%v", i, want, err)
		}
	}
}

var _ middleware.Targets = (*policyfile.Policies)(nil)
var _ middleware.Targets = (*policyfile.Live)(nil)

func TestTheGraceIsExplainedWithinTheLimitsOfTheServer(t *testing.T) {
	for text, want := range map[string]string{
		"server: {idempotency: on}":                                             "5s",
		"server: {idempotency: on, deadline: {cap: 2s}}":                        "2s",
		"server: {idempotency: on, deadline: {cap: 2s}, timeout: 1s}":           "1s",
		"server: {idempotency: {grace: 9s}, deadline: {cap: 2s}}":               "9s",
		"server: {idempotency: {grace: off}, deadline: {cap: 2s}, timeout: 1s}": "off",
	} {
		text = strings.Replace(text, "idempotency: on", "idempotency: {max_wait: off}", 1)
		text = strings.Replace(text, "{grace", "{max_wait: off, grace", 1)
		p, err := policyfile.Parse("policies.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.Explain(&b); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "grace" && words[1] != want {
				t.Errorf("%s: %s", text, line)
			}
		}
	}
}
