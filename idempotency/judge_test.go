package idempotency

import (
	"testing"

	"github.com/backstay-go/backstay"
)

// TestJudge is the law of Store.Begin, row by row.
func TestJudge(t *testing.T) {
	const now, before, after backstay.Instant = 100, 100, 101 // a record ends at its until
	mine, other := Claim{Key: "k", Owner: Token{1}}, Claim{Key: "k", Owner: Token{2}}
	same, changed := Fingerprint{1}, Fingerprint{2}
	for name, c := range map[string]struct {
		record *record
		print  Fingerprint
		want   State
	}{
		"a key that nobody used is started":                       {nil, same, Started},
		"a key in flight is in flight":                            {&record{claim: other, print: same, until: after}, same, InFlight},
		"a key in flight of one's own is started":                 {&record{claim: mine, print: same, until: after}, same, Started},
		"a key in flight with another payload is a mismatch":      {&record{claim: other, print: same, until: after}, changed, Mismatched},
		"one's own key with another payload is a mismatch":        {&record{claim: mine, print: same, until: after}, changed, Mismatched},
		"a completed key is completed":                            {&record{claim: other, print: same, until: after, done: true}, same, Completed},
		"a completed key of one's own is completed":               {&record{claim: mine, print: same, until: after, done: true}, same, Completed},
		"a completed key with another payload is a mismatch":      {&record{claim: other, print: same, until: after, done: true}, changed, Mismatched},
		"a lease that has passed is started":                      {&record{claim: other, print: same, until: before}, same, Started},
		"a lease that has passed is started with another payload": {&record{claim: other, print: same, until: before}, changed, Started},
		"a record that has expired is started":                    {&record{claim: other, print: same, until: before, done: true}, changed, Started},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.record.judge(now, mine, c.print); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestOwns(t *testing.T) {
	mine, other := Claim{Key: "k", Owner: Token{1}}, Claim{Key: "k", Owner: Token{2}}
	for name, c := range map[string]struct {
		record               *record
		owns, hasCompletedIt bool
	}{
		"nobody owns a key that was never begun":  {nil, false, false},
		"the owner owns it within its lease":      {&record{claim: mine, until: 101}, true, false},
		"not after its lease":                     {&record{claim: mine, until: 100}, false, false},
		"not somebody else's":                     {&record{claim: other, until: 101}, false, false},
		"not what was completed, by itself":       {&record{claim: mine, until: 101, done: true}, false, true},
		"not what was completed, by another":      {&record{claim: other, until: 101, done: true}, false, false},
		"not what it has completed long ago":      {&record{claim: mine, until: 100, done: true}, false, false},
		"not what another has completed long ago": {&record{claim: other, until: 100, done: true}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.record.owns(100, mine); got != c.owns {
				t.Errorf("owns: %t, want %t", got, c.owns)
			}
			if got := c.record.completedBy(100, mine); got != c.hasCompletedIt {
				t.Errorf("completed it: %t, want %t", got, c.hasCompletedIt)
			}
		})
	}
}
