package cron_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones are those of the tests, wherever they run

	"github.com/backstay-go/backstay/actors/internal/cron"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) // a Monday

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNextInUTC(t *testing.T) {
	for _, c := range []struct{ line, after, want string }{
		{"* * * * *", "2026-06-01 12:00", "2026-06-01 12:01"},
		{"0 * * * *", "2026-06-01 12:00", "2026-06-01 13:00"},
		{"*/15 * * * *", "2026-06-01 12:46", "2026-06-01 13:00"},
		{"30 8 * * *", "2026-06-01 08:30", "2026-06-02 08:30"},
		{"30 8 * * 1-5", "2026-06-05 09:00", "2026-06-08 08:30"},
		{"0 0 1 * *", "2026-06-01 00:00", "2026-07-01 00:00"},
		{"0 0 31 * *", "2026-06-01 00:00", "2026-07-31 00:00"},
		{"0 0 29 2 *", "2026-06-01 00:00", "2028-02-29 00:00"},
		{"0 0 29 2 *", "2096-02-29 00:00", "2104-02-29 00:00"},
		{"0 0 29 2 */7", "2088-02-29 00:00", "2128-02-29 00:00"},
		{"59 23 31 12 *", "2026-12-31 23:59", "2027-12-31 23:59"},
		{"0 0 * * 7", "2026-06-01 00:00", "2026-06-07 00:00"},
		{"0 0 13 * 5", "2026-06-01 00:00", "2026-06-05 00:00"},    // either day
		{"0 0 13 * 5", "2026-06-05 00:00", "2026-06-12 00:00"},    // again a Friday
		{"0 0 13 * 5", "2026-06-12 00:00", "2026-06-13 00:00"},    // the 13th
		{"0 0 */2 * 1", "2026-06-01 00:00", "2026-06-15 00:00"},   // both: a Monday with an odd day
		{"0 0 1-7 * */7", "2026-06-01 00:00", "2026-06-07 00:00"}, // both: the first Sunday
	} {
		l, err := cron.Parse(c.line)
		if err != nil {
			t.Fatal(err)
		}
		after, _ := time.Parse("2006-01-02 15:04", c.after)
		for _, within := range []time.Duration{0, time.Nanosecond, 59*time.Second + 999*time.Millisecond} {
			if got := l.Next(after.Add(within)).Format("2006-01-02 15:04"); got != c.want {
				t.Errorf("%q after %s: %s, want %s", c.line, c.after, got, c.want)
			}
		}
	}
}

func TestNextWhenClocksAreChanged(t *testing.T) {
	for name, c := range map[string]struct {
		zone, line, from string
		want             []string // in UTC
	}{
		"a time that is skipped is due when the clock jumps":            {"Europe/Berlin", "30 2 * * *", "2026-03-28T00:00:00Z", []string{"03-28 01:30", "03-29 01:00", "03-30 00:30"}},
		"several times that are skipped are due once":                   {"Europe/Berlin", "0,30 2 * * *", "2026-03-28T02:00:00Z", []string{"03-29 01:00", "03-30 00:00"}},
		"the time at which the clock arrives is due once":               {"Europe/Berlin", "0 2,3 * * *", "2026-03-29T00:00:00Z", []string{"03-29 01:00", "03-30 00:00"}},
		"a time that is shown twice is due the first time":              {"Europe/Berlin", "30 2 * * *", "2026-10-24T00:00:00Z", []string{"10-24 00:30", "10-25 00:30", "10-26 01:30"}},
		"every hour is about elapsed time where one is shown twice":     {"Europe/Berlin", "30 * * * *", "2026-10-24T23:00:00Z", []string{"10-24 23:30", "10-25 00:30", "10-25 01:30", "10-25 02:30"}},
		"every hour is about elapsed time where one is skipped":         {"Europe/Berlin", "30 * * * *", "2026-03-28T23:00:00Z", []string{"03-28 23:30", "03-29 00:30", "03-29 01:30"}},
		"every second hour counts hours of the clock":                   {"Europe/Berlin", "0 */2 * * *", "2026-10-24T22:00:00Z", []string{"10-25 00:00", "10-25 01:00", "10-25 03:00"}},
		"clocks that are put forward by half an hour":                   {"Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00:00Z", []string{"10-03 15:30", "10-04 15:15"}},
		"clocks that are put back by half an hour":                      {"Australia/Lord_Howe", "45 1 * * *", "2026-04-04T00:00:00Z", []string{"04-04 14:45", "04-05 15:15"}},
		"a midnight that is skipped":                                    {"America/Sao_Paulo", "0 0 * * *", "2018-11-03T12:00:00Z", []string{"11-04 03:00", "11-05 02:00"}},
		"what follows a midnight that is skipped":                       {"America/Sao_Paulo", "10 1 4 11 *", "2018-11-03T12:00:00Z", []string{"11-04 03:10"}},
		"a day that is skipped is not due, the moment it is skipped is": {"Pacific/Apia", "0 12 30 12 *", "2011-12-29T12:00:00Z", []string{"12-30 10:00"}},
		"a midnight that is shown twice":                                {"America/Havana", "30 0 * * *", "2026-10-31T12:00:00Z", []string{"11-01 04:30", "11-02 05:30"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := cron.Parse(c.line)
			if err != nil {
				t.Fatal(err)
			}
			at, _ := time.Parse(time.RFC3339, c.from)
			at = at.In(zone(t, c.zone))
			for _, want := range c.want {
				at = l.Next(at)
				if got := at.UTC().Format("01-02 15:04"); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
			}
		})
	}
}

// A clock that is looked at every minute finds the same times.
func TestNextIsThatOfAClockThatIsWatched(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(options ...string) string { return options[rng.IntN(len(options))] }
	for range 100 {
		text := fmt.Sprintf("%s %s %s %s %s", pick("0", "30", "*/20", "5,45"), pick("*", "0", "1-3", "2", "*/3", "23"),
			pick("*", "*", "28-31", "1,25"), "*", pick("*", "*", "sun", "sat-sun"))
		l, err := cron.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		name := pick("Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe", "UTC")
		at := time.Date(2026, time.Month([]int{3, 4, 10, 11}[rng.IntN(4)]), rng.IntN(31)+1, rng.IntN(24), rng.IntN(60), 0, 0, time.UTC).In(zone(t, name))
		next := l.Next(at)
		if watched := watch(t, text, at, next); !watched.Equal(next) {
			t.Fatalf("%q in %s after %v: %v, a clock that is watched says %v", text, name, at, next, watched)
		}
	}
}

// watch looks at the clock every minute, from after on and until a time.
func watch(t *testing.T, text string, after, until time.Time) time.Time {
	t.Helper()
	fixed := strings.Fields(text)[1][0] != '*'
	due := onEvenClock(t, text)
	shown := map[time.Time]bool{}
	last := asShown(after.Add(-3 * time.Hour))
	for now := after.Add(-3*time.Hour + time.Minute); !now.After(until); now = now.Add(time.Minute) {
		clock := asShown(now)
		hit := due(clock) && (!fixed || !shown[clock])
		for skipped := last.Add(time.Minute); fixed && skipped.Before(clock); skipped = skipped.Add(time.Minute) {
			hit = hit || due(skipped)
		}
		shown[clock], last = true, clock
		if hit && now.After(after) {
			return now
		}
	}
	return time.Time{}
}

// onEvenClock reports when a line is due on a clock that is never changed.
func onEvenClock(t *testing.T, text string) func(time.Time) bool {
	t.Helper()
	l, err := cron.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var from, next time.Time
	return func(clock time.Time) bool {
		if !clock.After(from) || clock.After(next) {
			from = clock.Add(-time.Minute)
			next = l.Next(from)
		}
		return clock.Equal(next)
	}
}

// asShown is what a clock shows, as a time in UTC.
func asShown(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

func BenchmarkNext(b *testing.B) {
	l, err := cron.Parse("30 8 * * 1-5")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		l.Next(noon)
	}
}
