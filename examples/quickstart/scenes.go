package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

// scene shows one policy at work.
type scene struct {
	title string
	play  func(context.Context, *stage) error
}

var scenes = []scene{
	{"Retry: a failure that passes does not reach the caller", showRetry},
	{"Budget: in an outage retries stop, and no storm comes", showBudget},
	{"Breaker: a service that is down is left alone, and found again", showBreaker},
	{"Hedge: a second copy overtakes a slow one", showHedge},
	{"Fallback: yesterday's menu is better than none", showFallback},
	{"Deadline: the service knows how long its caller waits", showDeadline},
}

func showRetry(ctx context.Context, s *stage) error {
	s.payments.be(func(n int64, _ *http.Request) (time.Duration, int) {
		if n == 1 {
			return 0, http.StatusServiceUnavailable
		}
		return 0, http.StatusOK
	})
	client, err := s.client(middleware.Standard("payments"))
	if err != nil {
		return err
	}
	answer, report, err := get(ctx, client, s.payments.url())
	if err != nil {
		return err
	}
	s.say("   payments says 503 once, then 200; its caller gets %q", answer)
	s.say("   the call's own report: %v", report)
	return nil
}

func showBudget(ctx context.Context, s *stage) error {
	s.payments.be(down)
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait} // 3 attempts; the show must go on
	target.Breaker = nil                             // it would end the load even sooner
	client, err := s.client(target)
	if err != nil {
		return err
	}
	const calls = 50
	for range calls {
		if _, _, err := get(ctx, client, s.payments.url()); err != nil {
			return err // not here: each caller gets the service's own 503
		}
	}
	s.say("   payments is down; %d calls may try 3 times each, which could be %d requests", calls, 3*calls)
	s.say("   it sees %d: retries may add a tenth, and a burst of %d; each caller gets its 503",
		s.payments.seen(), retry.DefaultBurst)
	return nil
}

func showBreaker(ctx context.Context, s *stage) error {
	s.payments.be(down)
	target := middleware.Standard("payments")
	target.Retry = nil
	target.Breaker = &breaker.Config{OpenFor: 300 * time.Millisecond} // the default is 5s
	client, err := s.client(target, httpmw.WithObserver(backstay.ObserverFunc(
		func(_ context.Context, e backstay.Event) {
			if e.Kind == backstay.BreakerChanged {
				s.say("   breaker: %s -> %s (%s)", e.From, e.To, e.Reason)
			}
		})))
	if err != nil {
		return err
	}
	const calls = 30
	var refused int
	var open *breaker.OpenError
	for range calls {
		if _, _, err := get(ctx, client, s.payments.url()); errors.As(err, &open) {
			refused++ // at once, and nothing was sent
		}
	}
	if open == nil {
		return errors.New("the breaker did not open")
	}
	s.say("   of %d calls to a dead service it sees %d; %d are refused at once", calls, s.payments.seen(), refused)

	s.payments.be(well)
	time.Sleep(open.RetryAfter) // the refusal says when it is worth trying again
	answer, _, err := get(ctx, client, s.payments.url())
	if err != nil {
		return err
	}
	s.say("   payments is back, and the next call finds out: %q", answer)
	return nil
}

func showHedge(ctx context.Context, s *stage) error {
	s.menu.be(func(n int64, _ *http.Request) (time.Duration, int) {
		if n == 1 {
			return time.Minute, http.StatusOK // the one unlucky request
		}
		return 0, http.StatusOK
	})
	target := middleware.Standard("menu")
	target.Hedge = &hedge.Config{Delay: 30 * time.Millisecond} // the default follows the latencies seen
	client, err := s.client(target)
	if err != nil {
		return err
	}
	began := time.Now()
	answer, report, err := get(ctx, client, s.menu.url())
	if err != nil {
		return err
	}
	s.say("   one request hangs; a copy of it is sent after 30ms")
	s.say("   %q after %v: %v", answer, time.Since(began).Round(time.Millisecond), report)
	return nil
}

func showFallback(ctx context.Context, s *stage) error {
	s.menu.be(well)
	target := middleware.Standard("menu")
	target.Retry = nil
	client, err := s.client(target, httpmw.WithStaleCache(httpmw.StaleCache{}))
	if err != nil {
		return err
	}
	if _, _, err := get(ctx, client, s.menu.url()); err != nil {
		return err
	}
	s.menu.be(down)
	time.Sleep(50 * time.Millisecond) // or the answer would not be old
	answer, report, err := get(ctx, client, s.menu.url())
	if err != nil {
		return err
	}
	s.say("   menu is down; its caller gets what it said last: %q", answer)
	s.say("   and can tell: %v", report)
	return nil
}

func showDeadline(ctx context.Context, s *stage) error {
	told := make(chan string, retry.DefaultMaxAttempts)
	s.payments.be(func(_ int64, req *http.Request) (time.Duration, int) {
		told <- req.Header.Get("X-Backstay-Timeout-Ms")
		return 0, http.StatusOK
	})
	client, err := s.client(middleware.Internal("payments")) // Standard tells nobody
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	if _, _, err := get(ctx, client, s.payments.url()); err != nil {
		return err
	}
	s.say("   the caller waits for 1.5s; payments is told that %sms are left", <-told)
	return nil
}
