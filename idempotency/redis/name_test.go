package redis

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tag is what a cluster computes the slot of a name from, by its specification:
// what stands between the first brace and the next one that closes, if that is
// something.
func tag(name string) string {
	if _, rest, ok := strings.Cut(name, "{"); ok {
		if inner, _, ok := strings.Cut(rest, "}"); ok && inner != "" {
			return inner
		}
	}
	return name
}

var anyKey = rapid.StringMatching(`[ -~]{0,4}[{}]{0,3}[a-c]{0,2}[{}]{0,3}[ -~]{0,4}`)

func TestTheWholeNameDecidesOnTheSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := keyName(DefaultPrefix, anyKey.Draw(t, "key"))
		if got := tag(name); got != name {
			t.Fatalf("%q lies where %q lies", name, got)
		}
	})
}

func TestNoTwoKeysHaveOneName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyKey.Draw(t, "a"), anyKey.Draw(t, "b")
		if rapid.Bool().Draw(t, "braced") {
			b = "{}" + a
		}
		if a != b && keyName("p:", a) == keyName("p:", b) {
			t.Fatalf("%q and %q are both %q", a, b, keyName("p:", a))
		}
	})
}

func TestALeaseIsNeverShorterInRedis(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 1500 * time.Microsecond: 2, time.Hour: 3_600_000,
	} {
		if got := millis(d); got != want {
			t.Errorf("%v is %d ms, want %d", d, got, want)
		}
	}
}

// A duration that says "for ever" must not overflow into the past, where Redis
// deletes the key at once; and what is left of it must be a duration again.
func TestTheLongestDurationIsOneInRedisToo(t *testing.T) {
	for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - time.Hour} {
		ms := millis(d)
		got, err := parse([]any{int64(inFlight), ms})
		if err != nil || got.Remaining < d-time.Millisecond {
			t.Errorf("%v is %d ms, of which %v is left, %v", d, ms, got.Remaining, err)
		}
	}
}
