package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
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
	play  func(*services) error
}

var scenes = []scene{
	{"Retry: a call that fails once is saved", showRetry},
	{"Budget: in an outage the retries stop, the storm does not come", showBudget},
	{"Breaker: a service that is down is left alone, and found again", showBreaker},
	{"Hedge: a second copy overtakes a slow one", showHedge},
	{"Fallback: yesterday's menu is better than none", showFallback},
	{"Deadline: the server knows how long its caller waits", showDeadline},
}

// get makes one call and tells what it went through.
func get(client *http.Client, url string) (body string, tale *backstay.Report, err error) {
	ctx, report := backstay.WithReport(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", report, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", report, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, text[:max(len(text)-1, 0)]), report, err
}

func client(t middleware.Target, options ...httpmw.Option) (*http.Client, *httpmw.Transport, error) {
	transport, err := httpmw.NewTransport(http.DefaultTransport, t, options...)
	return &http.Client{Transport: transport}, transport, err
}

func showRetry(s *services) error {
	s.payments.be(func(n int64, _ *http.Request) (time.Duration, int) {
		if n == 1 {
			return 0, http.StatusServiceUnavailable
		}
		return 0, http.StatusOK
	})
	c, _, err := client(middleware.Standard("payments"))
	if err != nil {
		return err
	}
	body, tale, err := get(c, s.payments.url())
	if err != nil {
		return err
	}
	fmt.Printf("   the server said 503, then 200\n   the caller got %q: %v\n", body, tale)
	return nil
}

func showBudget(s *services) error {
	s.payments.be(down)
	t := middleware.Standard("payments")
	t.Retry = &retry.Config{Base: retry.NoWait}
	t.Breaker = nil // alone it would end the outage's load even sooner
	c, _, err := client(t)
	if err != nil {
		return err
	}
	const calls = 50
	var refused int
	for range calls {
		_, tale, err := get(c, s.payments.url())
		if err != nil {
			return err
		}
		if tale.Summary().Reason == backstay.ReasonBudgetEmpty {
			refused++
		}
	}
	fmt.Printf("   %d calls, 3 attempts allowed each: naive retries would have sent %d requests\n", calls, 3*calls)
	fmt.Printf("   the server saw %d; the budget refused the retries of %d calls, which got the server's own 503\n",
		s.payments.seen(), refused)
	return nil
}

func showBreaker(s *services) error {
	s.payments.be(down)
	t := middleware.Standard("payments")
	t.Retry = nil
	t.Breaker = &breaker.Config{OpenFor: 300 * time.Millisecond}
	c, _, err := client(t, httpmw.WithObserver(backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
		if e.Kind == backstay.BreakerChanged {
			fmt.Printf("   breaker: %s -> %s (%s)\n", e.From, e.To, e.Reason)
		}
	})))
	if err != nil {
		return err
	}
	rejected := 0
	for range 30 {
		if _, _, err := get(c, s.payments.url()); errors.Is(err, backstay.ErrRejected) {
			rejected++
		}
	}
	fmt.Printf("   30 calls to a dead service: it saw %d, %d were refused at once\n", s.payments.seen(), rejected)
	s.payments.be(well)
	time.Sleep(400 * time.Millisecond)
	body, _, err := get(c, s.payments.url())
	fmt.Printf("   it is back: %q\n", body)
	return err
}

func showHedge(s *services) error {
	s.menu.be(func(n int64, _ *http.Request) (time.Duration, int) {
		if n == 1 {
			return 500 * time.Millisecond, http.StatusOK
		}
		return 0, http.StatusOK
	})
	t := middleware.Standard("menu")
	t.Hedge = &hedge.Config{Delay: 30 * time.Millisecond}
	c, _, err := client(t)
	if err != nil {
		return err
	}
	began := time.Now()
	body, tale, err := get(c, s.menu.url())
	if err != nil {
		return err
	}
	fmt.Printf("   the first copy takes 500ms, a second is sent after 30ms\n   %q after %v: %v\n",
		body, time.Since(began).Round(time.Millisecond), tale)
	return nil
}

func showFallback(s *services) error {
	s.menu.be(well)
	t := middleware.Standard("menu")
	t.Retry = nil
	c, _, err := client(t, httpmw.WithStaleCache(httpmw.StaleCache{}))
	if err != nil {
		return err
	}
	if _, _, err := get(c, s.menu.url()); err != nil {
		return err
	}
	s.menu.be(down)
	body, tale, err := get(c, s.menu.url())
	if err != nil {
		return err
	}
	fmt.Printf("   the service is down; the caller still gets %q\n   %v, %v old\n",
		body, tale, tale.Summary().Age.Round(time.Microsecond))
	return nil
}

func showDeadline(s *services) error {
	var told atomic.Pointer[string]
	s.payments.be(func(_ int64, req *http.Request) (time.Duration, int) {
		v := req.Header.Get("X-Backstay-Timeout-Ms")
		told.Store(&v)
		return 0, http.StatusOK
	})
	c, _, err := client(middleware.Internal("payments"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 750*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.payments.url(), nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	fmt.Printf("   the caller waits 750ms; the server was told X-Backstay-Timeout-Ms: %s\n", *told.Load())
	return nil
}
