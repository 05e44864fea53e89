package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// patience is how long every caller waits for an answer.
const patience = 500 * time.Millisecond

// compare lives through the day with one client after the other.
func compare(ctx context.Context, s *stage, d day) error {
	from, to := d.outage()
	s.say("   %d calls in %v, each waits %v at most. The menu takes %v, but fails one request in 20,",
		d.calls, d.length, patience, usual)
	s.say("   takes %v for one in 25, and is down for %v: half get 503, half no answer.\n", slow, to-from)

	all, err := contenders(s)
	if err != nil {
		return err
	}
	s.say("   %-22s %7s %7s %7s %9s %9s %10s", "", "fresh", "stale", "failed", "p50", "p99", "requests")
	for _, c := range all {
		t := c.live(ctx, s.menu, d)
		s.say("   %-22s %s %10d", c.name, t, s.menu.seen())
	}
	s.say("\n   fresh, stale, failed: what the callers got; stale is the last good answer, marked as such.")
	s.say("   p50, p99: how long they waited for it. requests: what the menu had to bear.")
	return nil
}

// contender is a way to make calls.
type contender struct {
	name   string
	client *http.Client
	tries  int // of the caller; Backstay makes its own
}

func contenders(s *stage) ([]contender, error) {
	careful, err := careful(s)
	if err != nil {
		return nil, err
	}
	plain := &http.Client{Transport: s.network}
	return []contender{
		{"http.Client", plain, 1},
		{"http.Client, 3 tries", plain, 3},
		{"Backstay", careful, 1},
	}, nil
}

// careful returns a client with everything that was shown before. An outage of
// a day that lasts a second is short: hence the short times.
func careful(s *stage) (*http.Client, error) {
	target := middleware.Standard("menu")
	target.Timeout = &timeout.Config{After: 150 * time.Millisecond}
	target.Retry = &retry.Config{Base: 10 * time.Millisecond}
	target.Hedge = &hedge.Config{Delay: 30 * time.Millisecond}
	target.Breaker = &breaker.Config{OpenFor: 40 * time.Millisecond, MaxOpenFor: 40 * time.Millisecond}
	return s.client(target, httpmw.WithStaleCache(httpmw.StaleCache{}))
}

// live makes the day's calls, each at its time, whatever becomes of those
// before: users do not queue up behind one another.
func (c contender) live(ctx context.Context, menu *service, d day) *tally {
	var t tally
	menu.be(d.dawn())
	began := time.Now()
	for i := range d.calls {
		time.Sleep(time.Until(began.Add(d.length * time.Duration(i) / time.Duration(d.calls))))
		t.calls.Go(func() {
			arrived := time.Now()
			stale, err := c.ask(ctx, fmt.Sprintf("%s/table/%d", menu.url(), i%10))
			t.count(time.Since(arrived), stale, err)
		})
	}
	t.calls.Wait()
	return &t
}

// ask asks for the menu, again at once if that fails, until the patience ends.
// It reports whether the answer is a stale one.
func (c contender) ask(ctx context.Context, url string) (stale bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for range c.tries {
		answer, report, failed := get(ctx, c.client, url)
		switch {
		case failed != nil:
			err = failed
		case !strings.HasPrefix(answer, "200 "):
			err = errors.New(answer)
		default:
			return report.Summary().Degraded, nil
		}
	}
	return false, err
}
