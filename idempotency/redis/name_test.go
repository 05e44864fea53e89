package redis

import (
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
