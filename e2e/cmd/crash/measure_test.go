package main

import (
	"strings"
	"testing"
	"time"
)

// at is so many milliseconds after the failure.
func at(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// story is a failure at 0: h1 dies, h2 removes it at 600, claims a/0 at 650 and
// owns it at 700; the call that waited is answered at 720.
func story() (*scene, *process, *process) {
	s, dead, heir := newScene(), &process{name: "h1"}, &process{name: "h2"}
	s.calls = map[string][]call{
		"order/0": {{at(-60), at(-50)}, {at(-10), at(5)}, {at(60), at(720)}, {at(770), at(780)}},
		"order/1": {{at(-20), at(-10)}, {at(40), at(130)}, {at(170), at(180)}, {at(230), at(900)}},
	}
	s.events = []line{
		{Time: at(600), What: "member evicted", Instance: "h1-4711", from: heir},
		{Time: at(700), What: "partition owned", Key: "order/0", Elapsed: millis(50), from: heir},
		{Time: at(701), What: "takeover phase", Key: "order/0", Reason: "replay", Elapsed: millis(30), from: heir},
		{Time: at(702), What: "takeover phase", Key: "order/0", Reason: "fence", Elapsed: millis(12), from: heir},
	}
	return s, dead, heir
}

func TestAnOutageIsSplitIntoItsPhases(t *testing.T) {
	s, _, _ := story()
	o := s.outage([]string{"order/0"}, []string{"h1"}, at(0), at(1000))
	want := phases{Detection: millis(600), Reassignment: millis(50), Replay: millis(30), Fence: millis(12), Answer: millis(20)}
	if o.total != millis(720) || o.last != "order/0" || o.phases != want {
		t.Errorf("%v of %s: %+v", o.total, o.last, o.phases)
	}
}

func TestGapsAreOfWaitsWithinTheirSpan(t *testing.T) {
	s, _, _ := story()
	for _, test := range []struct{ from, to, want int }{{0, 720, 490}, {0, 200, 90}, {-30, -10, 10}, {2000, 3000, 0}} {
		if got := s.gap([]string{"order/1"}, at(test.from), at(test.to)); got != millis(test.want) {
			t.Errorf("from %d to %d: %v", test.from, test.to, got)
		}
	}
}

func TestWhoIsRemovedWithoutHavingFailedIsAFault(t *testing.T) {
	s, dead, _ := story()
	if got := s.wronged([]string{"h1"}, at(0), at(1000)); len(got) > 0 {
		t.Errorf("%q", got)
	}
	s.events = append(s.events, line{Time: at(610), What: "member evicted", Instance: "h1-4711", from: dead})
	if got := s.wronged([]string{"h1"}, at(0), at(1000)); len(got) > 0 {
		t.Errorf("two tell of one: %q", got)
	}
	s.events = append(s.events, line{Time: at(900), What: "member evicted", Instance: "h1-4712", from: dead})
	if got := s.wronged([]string{"h1"}, at(0), at(1000)); len(got) != 1 || !strings.Contains(got[0], "h1-4712") {
		t.Errorf("it came back and was removed again: %q", got)
	}
	if got := s.wronged([]string{"h2"}, at(0), at(800)); len(got) != 2 || !strings.Contains(got[0], "h1-4711") {
		t.Errorf("%q", got)
	}
}

func TestTheSystemHasSettledWhenAllOwnAndAllAnswer(t *testing.T) {
	s, dead, heir := story()
	for i, p := range everything() {
		s.calls[p] = []call{{at(4900 + i), at(4950)}}
		s.claims[p] = map[*process]time.Time{heir: at(700)}
	}
	if why := s.unsettled(at(5000), []*process{heir}); why != "" {
		t.Error(why)
	}
	for name, spoil := range map[string]func(){
		"order/2 is nobody's":             func() { s.claims["order/2"] = map[*process]time.Time{dead: at(0)} },
		"order/2 has just found an owner": func() { s.claims["order/2"] = map[*process]time.Time{dead: at(0), heir: at(4500)} },
		"order/2 is slow":                 func() { s.calls["order/2"] = []call{{at(4100), at(4700)}} },
		"order/2 does not answer":         func() { s.calls["order/2"] = []call{{at(3000), at(3100)}} },
		"h1 owns nothing":                 func() {},
	} {
		living := []*process{heir}
		if name == "h1 owns nothing" {
			living = append(living, dead)
		}
		before, calls := s.claims["order/2"], s.calls["order/2"]
		spoil()
		if why := s.unsettled(at(5000), living); why != name {
			t.Errorf("%q, not %q", why, name)
		}
		s.claims["order/2"], s.calls["order/2"] = before, calls
	}
}

func TestTheIdsAreOneAPartition(t *testing.T) {
	have := make(map[int]bool)
	for _, p := range idOf {
		have[p] = true
	}
	if len(idOf) != partitions || len(have) != partitions {
		t.Errorf("%v", idOf)
	}
}
