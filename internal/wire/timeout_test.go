package wire_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

// invalid marks, in a table, a value that must be refused.
const invalid = time.Duration(math.MinInt64)

func checkParse(t *testing.T, v string, got time.Duration, err error, want time.Duration) {
	t.Helper()
	switch {
	case want == invalid && err == nil:
		t.Errorf("%q was read as %v, want an error", v, got)
	case want == invalid && got != 0:
		t.Errorf("%q: %v beside an error", v, got)
	case want != invalid && (err != nil || got != want):
		t.Errorf("%q was read as %v, %v, want %v", v, got, err, want)
	}
}

func TestGRPCTimeoutsAreRead(t *testing.T) {
	for _, c := range []struct {
		value string
		want  time.Duration
	}{
		{"1S", time.Second},
		{"100m", 100 * time.Millisecond},
		{"7u", 7 * time.Microsecond},
		{"7n", 7},
		{"90M", 90 * time.Minute},
		{"2H", 2 * time.Hour},
		{"99999999H", forever},
		{"99999999S", 99_999_999 * time.Second},
		{"0n", 0},
		{"00000001S", time.Second},
		{"100000000n", invalid},
		{"S", invalid},
		{"1", invalid},
		{"1s", invalid},
		{"1h", invalid},
		{"1 S", invalid},
		{" 1S", invalid},
		{"1S ", invalid},
		{"-1S", invalid},
		{"+1S", invalid},
		{"1.5S", invalid},
		{"1e3S", invalid},
		{"1SS", invalid},
		{"", invalid},
		{strings.Repeat("1", 1000) + "S", invalid},
	} {
		got, err := wire.ParseGRPCTimeout(c.value)
		checkParse(t, c.value, got, err, c.want)
	}
}

func TestGRPCTimeoutsAreToldInTheSmallestUnitThatFits(t *testing.T) {
	for _, c := range []struct {
		left time.Duration
		want string
	}{
		{-time.Hour, "0n"},
		{0, "0n"},
		{1, "1n"},
		{99_999_999, "99999999n"},
		{100_000_000, "100000u"},
		{100_000_001, "100001u"}, // rounded up
		{1500 * time.Millisecond, "1500000u"},
		{99_999_999_001, "100000m"}, // does not fit any more once rounded up
		{119 * time.Second, "119000m"},
		{1900 * time.Millisecond, "1900000u"},
		{90 * time.Minute, "5400000m"},
		{99_999_999 * time.Second, "99999999S"},
		{100_000_000 * time.Second, "1666667M"},
		{forever, "2562048H"},
	} {
		if got := wire.FormatGRPCTimeout(c.left); got != c.want {
			t.Errorf("%v is told as %q, want %q", c.left, got, c.want)
		}
	}
}

func TestMillisecondsAreRead(t *testing.T) {
	for _, c := range []struct {
		value       string
		want, envoy time.Duration
	}{
		{"1", time.Millisecond, time.Millisecond},
		{"1500", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"0", 0, invalid}, // to Envoy it means no timeout
		{"0000", 0, invalid},
		{"9999999999", 9_999_999_999 * time.Millisecond, 9_999_999_999 * time.Millisecond},
		{"10000000000", invalid, 10_000_000_000 * time.Millisecond}, // 11 digits
		{"1000000000000", invalid, 1e12 * time.Millisecond},
		{"99999999999999999999", invalid, forever},
		{"-1", invalid, invalid},
		{"+1", invalid, invalid},
		{"1e3", invalid, invalid},
		{"1.5", invalid, invalid},
		{"1s", invalid, invalid},
		{" 1", invalid, invalid},
		{"1 ", invalid, invalid},
		{"", invalid, invalid},
		{"NaN", invalid, invalid},
	} {
		got, err := wire.ParseMillis(c.value)
		checkParse(t, c.value, got, err, c.want)
		got, err = wire.ParseEnvoyMillis(c.value)
		checkParse(t, "Envoy's "+c.value, got, err, c.envoy)
	}
}

func TestMillisecondsAreToldRoundedDown(t *testing.T) {
	for _, c := range []struct {
		left        time.Duration
		want, envoy string
	}{
		{-time.Hour, "0", "1"},
		{0, "0", "1"},
		{time.Millisecond - 1, "0", "1"},
		{time.Millisecond, "1", "1"},
		{2*time.Millisecond - 1, "1", "1"},
		{119 * time.Second, "119000", "119000"},
		{9_999_999_999 * time.Millisecond, "9999999999", "9999999999"},
		{10_000_000_000 * time.Millisecond, "9999999999", "10000000000"},
		{forever, "9999999999", "9223372036854"},
	} {
		if got := wire.FormatMillis(c.left); got != c.want {
			t.Errorf("%v is told as %q, want %q", c.left, got, c.want)
		}
		if got := wire.FormatEnvoyMillis(c.left); got != c.envoy {
			t.Errorf("%v is told to Envoy as %q, want %q", c.left, got, c.envoy)
		}
	}
}

func TestAnErrorQuotesOnlyTheBeginningOfAHostileValue(t *testing.T) {
	_, err := wire.ParseMillis(strings.Repeat("\n", 1<<16))
	if err == nil || len(err.Error()) > 200 || strings.Contains(err.Error(), "\n") {
		t.Errorf("got an error of %d bytes", len(err.Error()))
	}
}

func FuzzTimeouts(f *testing.F) {
	for _, v := range []string{
		"1S", "100m", "99999999H", "0n", "100000000n", "S", "1", "1s", "1 S", "-1S", "1.5S", "", "1500000u", "0", "9999999999", "10000000000",
	} {
		f.Add(v, int64(119*time.Second))
	}
	f.Fuzz(func(t *testing.T, v string, n int64) {
		for name, parse := range map[string]func(string) (time.Duration, error){
			"gRPC": wire.ParseGRPCTimeout, "ms": wire.ParseMillis, "Envoy": wire.ParseEnvoyMillis,
		} {
			if d, err := parse(v); d < 0 || err != nil && d != 0 {
				t.Fatalf("%s: %q was read as %v, %v", name, v, d, err)
			}
		}
		left := time.Duration(n)
		d, err := wire.ParseGRPCTimeout(wire.FormatGRPCTimeout(left))
		if most := max(left, 0); err != nil || d < most || d-most > most/100 {
			t.Fatalf("gRPC: %v came back as %v, %v", left, d, err)
		}
		d, err = wire.ParseMillis(wire.FormatMillis(left))
		if err != nil || d > max(left, 0) || max(left, 0)-d >= time.Millisecond && d != 9_999_999_999*time.Millisecond {
			t.Fatalf("ms: %v came back as %v, %v", left, d, err)
		}
		d, err = wire.ParseEnvoyMillis(wire.FormatEnvoyMillis(left))
		if err != nil || d > max(left, time.Millisecond) || left-d >= time.Millisecond {
			t.Fatalf("Envoy: %v came back as %v, %v", left, d, err)
		}
	})
}
