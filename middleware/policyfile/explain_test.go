package policyfile_test

import (
	"errors"
	"strings"
	"testing"

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

func TestNotesSayWhatMayNotBeMeant(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets:\n  a: {deadline: {total: 3s}}\n  b: {retry: {budget: off}}\n  c: on"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, n := range p.Notes() {
		all = append(all, n.String())
	}
	want := "policies.yaml:2:3: targets.a: only 1 of 3 attempts fit into the total of 3s where each runs into its timeout\n" +
		"policies.yaml:3:3: targets.b: retries may make an outage worse by 3x: keep the budget near 10%"
	if got := strings.Join(all, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
