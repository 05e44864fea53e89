package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// hours are what happens in the day.
var hours = []struct {
	title string
	mood  mood
	pass  func(context.Context, *program) error
}{
	{"All is well", well, func(ctx context.Context, p *program) error { return p.calls(ctx, 100, 1) }},
	{"Two requests of twelve fail: copies and retries mend it", flaky,
		func(ctx context.Context, p *program) error { return p.calls(ctx, 100, 1) }},
	{"Every tenth request is slow: a second copy overtakes it", uneven,
		func(ctx context.Context, p *program) error { return p.calls(ctx, 100, 1) }},
	{"The service is down: the budgets run out, the breaker opens, stale answers are served", down,
		func(ctx context.Context, p *program) error { return p.calls(ctx, 100, 1) }},
	{"It is back: a probe finds out", well, func(ctx context.Context, p *program) error {
		if err := sleep(ctx, 300*time.Millisecond); err != nil {
			return err
		}
		return p.calls(ctx, 50, 1)
	}},
	{"It is slow, and a crowd comes: there is room for 16", slow,
		func(ctx context.Context, p *program) error { return p.calls(ctx, 40, 40) }},
	{"Callers come who wait for 5 ms, where 10 are needed", well,
		func(ctx context.Context, p *program) error { return p.hurried(ctx, 5) }},
	{"Shelves, which are actors, count; one is too busy, and one burns until it is given up", well,
		func(ctx context.Context, p *program) error { return p.keepShelves(ctx) }},
	{"Somebody edits the policies, wrongly and then rightly", well, func(ctx context.Context, p *program) error { return p.edit(ctx) }},
}

// live lives through one day.
func (p *program) live(ctx context.Context, out io.Writer) error {
	for _, hour := range hours {
		fmt.Fprintln(out, hour.title+".")
		p.stock.be(hour.mood)
		if err := hour.pass(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", hour.title, err)
		}
	}
	return nil
}

// calls asks n times for the stock, so many callers at once.
func (p *program) calls(ctx context.Context, n, callers int) error {
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range n / callers {
				p.get(ctx)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// hurried asks n times, with little time.
func (p *program) hurried(ctx context.Context, n int) error {
	for range n {
		brief, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		p.get(brief)
		cancel()
	}
	return context.Cause(ctx)
}

// get asks for the stock. What comes of it the metrics tell.
func (p *program) get(ctx context.Context) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.backend.URL+"/soup", nil)
	if err != nil {
		return
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// edit breaks the policy file, and mends it.
func (p *program) edit(ctx context.Context) error {
	if err := p.write(ctx, bytes.ReplaceAll(policies, []byte("limit"), []byte("limmit"))); err == nil {
		return errors.New("a policy file with a fault was taken up")
	}
	return p.write(ctx, bytes.ReplaceAll(policies, []byte("limit: 16"), []byte("limit: 20")))
}

// write replaces the policy file, and has it read at once.
func (p *program) write(ctx context.Context, text []byte) error {
	if err := os.WriteFile(p.file, text, 0o600); err != nil {
		return err
	}
	return p.policies.Reload(ctx)
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
