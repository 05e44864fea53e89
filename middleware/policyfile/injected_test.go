package policyfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

const withFaults = `
profiles:
  drill:
    faults:
      - {name: slow, kind: latency, share: 20%, until: 2026-12-01T12:00:00Z, latency: {distribution: normal, mean: 200ms, deviation: 50ms}}
targets:
  payments:
    extends: drill
  search:
    extends: drill
    faults:
      - name: down
        kind: status
        share: 1
        status: 503
        headers: {retry-after: "2"}
        body: gone fishing
        from: 2026-12-01T11:00:00+01:00
        until: 2026-12-01T12:00:00Z
        match: {host: "*.example.com", method: [POST, PUT], route: "/v1/{id}"}
      - {name: cut, kind: truncated, share: 0.5, after: 64KiB, until: 2026-12-01T12:00:00Z}
  quiet:
    extends: drill
    faults: []
`

func TestFaultsAreReadWithTheTarget(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte(withFaults))
	if err != nil {
		t.Fatal(err)
	}
	slow := p.Target("payments").Faults
	if len(slow) != 1 || slow[0].Kind != middleware.FaultLatency || slow[0].Share != 0.2 || slow[0].Latency.Mean != 200*time.Millisecond {
		t.Errorf("payments has %+v", slow)
	}
	all := p.Target("search").Faults
	if len(all) != 2 || all[0].Headers["retry-after"] != "2" || all[0].Match.Methods[1] != "PUT" || all[1].After != 64<<10 ||
		!all[0].From.Equal(time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("search has %+v", all)
	}
	all[0].Headers["retry-after"] = "spoiled"
	if p.Target("search").Faults[0].Headers["retry-after"] != "2" {
		t.Error("a change of one target shows in the next")
	}
	if q := p.Target("quiet").Faults; q != nil {
		t.Errorf("quiet has %+v", q)
	}
	var b strings.Builder
	if err := p.Explain(&b, "search", "payments"); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"faults[0] policies.yaml:12 name down policies.yaml:12 kind status policies.yaml:13", "match.method POST, PUT policies.yaml:20",
		"headers retry-after: 2 policies.yaml:16", "faults[1] policies.yaml:21", "until 2026-12-01T12:00:00Z policies.yaml:21",
		"faults[0] policies.yaml:5 (drill)",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not in\n%s", want, words)
		}
	}
}

func TestEveryFaultOfTheFaultsIsTold(t *testing.T) {
	_, err := policyfile.Parse("policies.yaml", []byte(`targets:
  a:
    faults:
      - {kind: latncy, share: 20, until: tomorrow}
      - {name: x, kind: error, share: 1, status: 500}
      - {name: x, kind: status, share: 1, until: 2026-12-01T12:00:00Z}
      - {nam: y}
      - later
  b: {faults: {name: z}}
`))
	e, ok := errors.AsType[*policyfile.Error](err)
	if !ok {
		t.Fatal(err)
	}
	var all []string
	for i := range e.Faults {
		all = append(all, e.Faults[i].Error())
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{
		"policies.yaml:4:9: targets.a.faults[0]: name is missing",
		"policies.yaml:4:16: targets.a.faults[0].kind: latncy is not known (did you mean latency?)",
		"policies.yaml:4:31: targets.a.faults[0].share: 20 is not allowed (did you mean 20%?",
		"policies.yaml:4:42: targets.a.faults[0].until: tomorrow is not a time (write a time with its zone, such as 2026-01-02T15:04:05Z)",
		"policies.yaml:5:9: targets.a.faults[1]: until is missing: no fault of a file is for ever",
		"policies.yaml:5:50: targets.a.faults[1].status: 500 contradicts other values (belongs to the kind status alone)",
		"policies.yaml:6:16: targets.a.faults[2].name: x contradicts other values (faults[1] has that name already)",
		"policies.yaml:6:9: targets.a.faults[2]: status is missing (must be an HTTP status from 200 to 599)",
		"policies.yaml:7:10: targets.a.faults[3].nam: unknown key (did you mean name?)",
		"policies.yaml:8:9: targets.a.faults[4]: later is not a mapping",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Count(got, "faults[4]") != 1 {
		t.Errorf("what is no mapping has more faults than that:\n%s", got)
	}
}
