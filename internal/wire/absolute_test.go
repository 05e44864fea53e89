package wire_test

import (
	"math"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestEpochMilliseconds(t *testing.T) {
	for value, want := range map[string]time.Time{
		"1700000000123":  time.UnixMilli(1_700_000_000_123),
		"946684800000":   time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		"99999999999999": time.UnixMilli(99_999_999_999_999),
	} {
		got, err := wire.ParseEpochMillis(value)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q was read as %v, %v, want %v", value, got, err, want)
		}
		if back := wire.FormatEpochMillis(got); back != value {
			t.Errorf("%q came back as %q", value, back)
		}
	}
	for name, value := range map[string]string{
		"seconds": "1700000000", "11 digits": "17000000001", "15 digits": "170000000012345", "microseconds": "1700000000123456", "nanoseconds": "1700000000123456789",
		"a sign": "-1700000000123", "a fraction": "1700000000123.5", "empty": "", "junk": "tomorrow", "20 digits": "99999999999999999999",
	} {
		if got, err := wire.ParseEpochMillis(value); err == nil {
			t.Errorf("%s: %q was read as %v", name, value, got)
		}
	}
}

func TestRFC3339(t *testing.T) {
	want := time.Date(2026, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	for _, value := range []string{"2026-02-03T04:05:06.789Z", "2026-02-03T05:05:06.789+01:00", "2026-02-03T04:05:06.789000Z"} {
		if got, err := wire.ParseRFC3339(value); err != nil || !got.Equal(want) {
			t.Errorf("%q was read as %v, %v, want %v", value, got, err, want)
		}
	}
	for _, value := range []string{"", "2026-02-03", "2026-02-03T04:05:06", "2026-02-03 04:05:06Z", "2026-13-03T04:05:06Z", "1700000000123"} {
		if got, err := wire.ParseRFC3339(value); err == nil {
			t.Errorf("%q was read as %v", value, got)
		}
	}
	zone := time.FixedZone("", 3600)
	if got := wire.FormatRFC3339(want.Add(999_999).In(zone)); got != "2026-02-03T04:05:06.789Z" {
		t.Errorf("told as %q", got)
	}
}

func TestTimesBeyondTheFormsAreBounded(t *testing.T) {
	const year = 366 * 24 * time.Hour
	early, late := time.Date(-500, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{wire.FormatEpochMillis(early), "100000000000"},
		{wire.FormatEpochMillis(time.Unix(0, 0)), "100000000000"},
		{wire.FormatEpochMillis(time.Time{}), "100000000000"},
		{wire.FormatEpochMillis(time.UnixMilli(100_000_000_000).Add(-year / 2)), "100000000000"},
		{wire.FormatEpochMillis(time.Unix(-9_300_000_000_000_000, 0)), "100000000000"}, // wraps in 64 bits
		{wire.FormatEpochMillis(time.Unix(9_300_000_000_000_000, 0)), "99999999999999"},
		{wire.FormatEpochMillis(late), "99999999999999"},
		{wire.FormatEpochMillis(time.UnixMilli(99_999_999_999_999).Add(time.Millisecond)), "99999999999999"},
		{wire.FormatEpochMillis(time.Unix(math.MaxInt64, 0)), "99999999999999"},
		{wire.FormatRFC3339(early), "0000-01-01T00:00:00.000Z"},
		{wire.FormatRFC3339(late), "9999-12-31T23:59:59.000Z"},
	} {
		if c.got != c.want {
			t.Errorf("told as %q, want %q", c.got, c.want)
		}
	}
}

func TestWhatIsLeftAllowsForSkew(t *testing.T) {
	for _, c := range []struct {
		name string
		t    time.Time
		skew time.Duration
		want time.Duration
	}{
		{"no skew", now.Add(time.Second), 0, time.Second},
		{"a skew is added", now.Add(time.Second), 250 * time.Millisecond, 1250 * time.Millisecond},
		{"passed by our clock, not by theirs", now.Add(-time.Second), 2 * time.Second, time.Second},
		{"passed even so", now.Add(-time.Second), time.Millisecond, -999 * time.Millisecond},
		{"a negative skew is none", now.Add(time.Second), -time.Hour, time.Second},
		{"far away saturates", now.Add(forever).Add(forever), forever, forever},
	} {
		if got := wire.Left(c.t, now, c.skew); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzAbsolute(f *testing.F) {
	f.Add("1700000000123", int64(1_700_000_000), int64(5))
	f.Add("2026-02-03T04:05:06.789Z", int64(0), int64(-5))
	f.Add("2026-02-03T04:05:06.789+23:59", int64(math.MaxInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, v string, unix, skew int64) {
		at := time.Unix(unix, 0)
		for _, parse := range []func(string) (time.Time, error){wire.ParseEpochMillis, wire.ParseRFC3339} {
			got, err := parse(v)
			if err != nil && !got.IsZero() {
				t.Fatalf("%q was read as %v beside an error", v, got)
			}
			if left := wire.Left(got, at, time.Duration(skew)); left < got.Sub(at) {
				t.Fatalf("a skew of %v shortens %v to %v", time.Duration(skew), got.Sub(at), left)
			}
		}
		if _, err := wire.ParseEpochMillis(wire.FormatEpochMillis(at)); err != nil {
			t.Fatal(err)
		}
		if _, err := wire.ParseRFC3339(wire.FormatRFC3339(at)); err != nil {
			t.Fatal(err)
		}
	})
}
