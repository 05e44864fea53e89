package policyfile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestTargetsOfCodeAreExplainedToo(t *testing.T) {
	var b strings.Builder
	if err := policyfile.Explain(&b, middleware.Reads("search")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"target search", "max_copies        1", "3 x 2 = 6 requests, at most 10s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}

func TestWhatWasSwitchedOffLeavesNoTrace(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte(`
profiles:
  a: {hedge: {max_copies: 2}}
  b: {extends: a, hedge: off}
targets:
  t: {extends: b, hedge: on}`))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := p.Explain(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		words := strings.Join(strings.Fields(line), " ")
		if strings.HasPrefix(words, "hedge") && words != "hedge policies.yaml:6" || strings.HasPrefix(words, "max_copies") && words != "max_copies 1 default" {
			t.Errorf("got %s", words)
		}
	}
}

func TestAnUnknownTargetIsNotExplained(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets: {pay: on}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Explain(&strings.Builder{}, "pya"); err == nil || !strings.Contains(err.Error(), "did you mean pay?") {
		t.Errorf("got %v", err)
	}
}

func TestAnExplanationThatCannotBeWritten(t *testing.T) {
	full := errors.New("disk full")
	if err := policyfile.Explain(writer{full}, middleware.Standard("pay")); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type writer struct{ err error }

func (w writer) Write([]byte) (int, error) { return 0, w.err }

func TestTheServerIsExplainedByItsName(t *testing.T) {
	explained := func(text string, names ...string) string {
		t.Helper()
		p, err := policyfile.Parse("policies.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := p.Explain(&b, names...); err != nil {
			return err.Error()
		}
		var heads []string
		for line := range strings.Lines(b.String()) {
			if words := strings.Fields(line); len(words) > 0 && line[0] != ' ' {
				heads = append(heads, strings.Join(words, " "))
			}
		}
		return strings.Join(heads, ", ")
	}
	const both, named = "server: on\ntargets: {pay: on}", "server: on\ntargets: {server: on}"
	for _, c := range [][2]string{
		{explained(both), "target pay policies.yaml:2, server policies.yaml:1"},
		{explained(both, "server"), "server policies.yaml:1"},
		{explained(named, "server"), "target server policies.yaml:2"},
		{explained(named), "target server policies.yaml:2, server policies.yaml:1"},
		{explained("targets: {pay: on}", "server"), "policyfile: policies.yaml has no target server; known: pay"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
}

func TestFaultsThatAreOverAndLimitsThatAdaptAreNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is the year 2000
		p, err := policyfile.Parse("policies.yaml", []byte(`
server: {bulkhead: {limit: 200}}
targets:
  a:
    faults:
      - {name: slow, kind: refused, share: 1, until: 1999-12-31T00:00:00Z}
      - {name: down, kind: refused, share: 1, until: 2000-12-31T00:00:00Z}
  b: {bulkhead: {limit: 200}}
  c: {bulkhead: {limit: 200, adaptive: on}}
`))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, n := range p.Notes() {
			all = append(all, n.String())
		}
		want := "policies.yaml:6:54: targets.a.faults[0].until: fault slow of target a is over: nothing is injected any longer\n" +
			"policies.yaml:4:3: targets.a: its faults act only in programs with an injector of package chaos below its policies\n" +
			"policies.yaml:2:28: server.bulkhead.limit: the limit of 200 is only where it begins, since standard has the bulkhead adapt it: write adaptive: off for a fixed one"
		if got := strings.Join(all, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		var b strings.Builder
		if err := p.Explain(&b, "a"); err != nil || strings.Count(b.String(), "is over") != 1 {
			t.Errorf("%v in\n%s", err, &b)
		}
	})
}

func TestNotesSayWhatMayNotBeMeant(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets:\n  a: {deadline: {total: 3s}}\n  b: {retry: {budget: off}}\n  c: on\nserver: {name: c}"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, n := range p.Notes() {
		all = append(all, n.String())
	}
	want := "policies.yaml:2:3: targets.a: only 1 of 3 attempts fit into the total of 3s where each runs into its timeout\n" +
		"policies.yaml:3:3: targets.b: retries may make an outage worse by 3x: keep the budget near 10%\n" +
		"policies.yaml:5:1: server: it has the name of a target, c: logs and metrics do not tell them apart"
	if got := strings.Join(all, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
