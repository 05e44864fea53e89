package retry_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// A protocol turns what stands in a Retry-After field into these durations.
// Acceptance case C17.
func TestC17_AServersWaitIsKeptButNeverWithoutEnd(t *testing.T) {
	const longest = 30 * time.Second
	tests := map[string]struct {
		asked time.Duration
		given bool // the call ends at once
	}{
		"0, empty, junk, a past date": {0, false},
		"-1":                          {-time.Second, false},
		"1":                           {time.Second, false},
		"1.5":                         {1500 * time.Millisecond, false},
		"30":                          {longest, false},
		"a far date":                  {24 * time.Hour, true},
		"18446744073":                 {math.MaxInt64, true},
		"99999999999":                 {math.MaxInt64, true},
		"9223372036854775807":         {math.MaxInt64, true},
		"below any duration":          {math.MinInt64, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := policy(t, retry.Config{MaxAttempts: 2, Budget: retry.NoBudget})
				least, most, sum := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(0)
				const runs = 1_000
				for range runs {
					began, calls := time.Now(), 0
					_, _ = retry.Do(t.Context(), p, always(backstay.RetryAfter(errDown, test.asked), &calls))
					if made := calls == 1; made != test.given {
						t.Fatalf("%d attempts", calls)
					}
					waited := time.Since(began)
					least, most, sum = min(least, waited), max(most, waited), sum+waited
				}
				if test.given {
					if most != 0 {
						t.Errorf("waited %v", most)
					}
					return
				}
				if least < test.asked || most > longest {
					t.Errorf("waited %v to %v for %v", least, most, test.asked)
				}
				if mean := sum / runs; mean < 30*time.Millisecond {
					t.Errorf("waited %v on average: a hot loop", mean)
				}
			})
		})
	}
}

// Acceptance case C58.
func TestC58_ClientsThatWereToldTheSameDoNotComeBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, retry.Config{MaxAttempts: 2, Budget: retry.NoBudget})
		var mu sync.Mutex
		back := map[time.Duration]int{}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				began := time.Now()
				_, err := retry.Do(ctx, p, failing(backstay.RetryAfter(errDown, 5*time.Second)))
				if err != nil {
					t.Errorf("was given up: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				back[time.Since(began)]++
			})
		}
		all.Wait()
		for waited, clients := range back {
			if waited < 5*time.Second || waited > 5*time.Second+retry.DefaultBase {
				t.Errorf("%d clients waited %v", clients, waited)
			}
		}
		if len(back) < 90 {
			t.Errorf("100 clients come back at %d points in time", len(back))
		}
	})
}

// Acceptance case C26.
func TestC26_PushbackIsExactAndRestartsTheSeries(t *testing.T) {
	pushed := func(d time.Duration) error {
		return backstay.Mark(errDown, backstay.Outcome{Class: backstay.Overload, RetryAfter: d, Marks: backstay.Marks{Pushback: true}})
	}
	synctest.Test(t, func(t *testing.T) {
		seen := &told{}
		// Bounds of 1 ns, 1 s, 1 h, 1 h: the series shows by its size where it is.
		p := policy(t, retry.Config{
			MaxAttempts: 10, Base: 1, Multiplier: 1e9, Cap: time.Hour, Budget: retry.NoBudget,
		}, observed(seen))
		_, err := retry.Do(t.Context(), p, failing(errDown, pushed(3*time.Second), errDown, pushed(0), pushed(0), errDown, errDown))
		if err != nil {
			t.Fatal(err)
		}
		got := seen.waits()
		if len(got) != 7 {
			t.Fatalf("waited %v", got)
		}
		for i, d := range got {
			var least, most time.Duration
			switch i {
			case 0, 2, 5: // the first of a series
				most = 1
			case 1:
				least, most = 3*time.Second, 3*time.Second
			case 6: // the second of a series; it is no more than 1 ns once in a billion times
				least, most = 2, time.Second
			}
			if d < least || d > most {
				t.Errorf("wait %d is %v, want %v to %v", i+1, d, least, most)
			}
		}
	})
}

// Acceptance case C26.
func TestC26_PushbackThatForbidsIsNotRetried(t *testing.T) {
	forbidden := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true, Pushback: true}})
	calls := 0
	_, err := retry.Do(t.Context(), policy(t, retry.Config{}), always(forbidden, &calls))
	if !errors.Is(err, errDown) || calls != 1 {
		t.Errorf("got %v after %d attempts", err, calls)
	}
}

func TestAServersWaitDoesNotReplaceTheSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &told{}
		p := policy(t, retry.Config{MaxAttempts: 4}, constant(time.Second), observed(seen))
		_, err := retry.Do(t.Context(), p, failing(errDown, backstay.RetryAfter(errDown, 5*time.Second), errDown))
		want := []time.Duration{time.Second, 6 * time.Second, time.Second}
		if got := seen.waits(); err != nil || !slices.Equal(got, want) {
			t.Errorf("waited %v, %v, want %v", got, err, want)
		}
	})
}
