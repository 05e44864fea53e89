package membership

import (
	"maps"
	"slices"
	"testing"
)

func TestAnOnlookerKnowsWhoIsAliveAndWhere(t *testing.T) {
	o := NewOnlooker(0)
	at := int64(1000)
	say := func(id, address string, gone bool) {
		b := beatOf(id, 200)
		b.Address, b.Gone = address, gone
		o.Hear(b.encode(), at)
	}
	expect := func(when string, want ...string) {
		t.Helper()
		if got := slices.Sorted(maps.Keys(o.Addresses())); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	o.Hear([]byte("no beat"), at)
	expect("before anybody is heard")
	for range 10 {
		at += 200
		say("a", "host-a:1", false)
		say("b", "host-b:1", false)
		say("c", "", false)
	}
	expect("while all beat", "host-a:1", "host-b:1")
	say("a", "", true)
	expect("after one has left", "host-b:1")
	for range 5 {
		at += 200
		say("c", "", false)
	}
	expect("after another is silent")
	say("b", "host-b:1", false)
	expect("when it is heard again", "host-b:1")
	if n := len(o.detector.pulses); n != 2 {
		t.Errorf("%d members are kept", n)
	}
}
