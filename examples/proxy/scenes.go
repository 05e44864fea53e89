package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// stream reads events, each as it comes.
func (s *stage) stream(ctx context.Context) error {
	fmt.Fprintln(s.out, "1. Events pass when they happen")
	resp, err := s.get(ctx, "/events", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	began := time.Now()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if event, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			fmt.Fprintf(s.out, "   %s after %d ms\n", event, time.Since(began).Milliseconds())
		}
	}
	return lines.Err()
}

// socket opens a WebSocket and says something.
func (s *stage) socket(ctx context.Context) error {
	fmt.Fprintln(s.out, "2. A WebSocket passes")
	const key = "dGhlIHNhbXBsZSBub25jZQ=="
	resp, err := s.get(ctx, "/chat", http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {key},
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	both, ok := resp.Body.(io.ReadWriter)
	if !ok || resp.Header.Get("Sec-WebSocket-Accept") != accept(key) {
		return errors.New("this is no WebSocket: " + resp.Status)
	}
	answer := make([]byte, 5)
	if _, err := io.WriteString(both, "hello"); err != nil {
		return err
	}
	if _, err := io.ReadFull(both, answer); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "   %s; said hello, and heard %s\n", resp.Status, answer)
	return nil
}

// eject has one backend get slow, and well again.
func (s *stage) eject(ctx context.Context) error {
	fmt.Fprintln(s.out, "3. A backend that gets slow is left out")
	if err := s.ask(ctx, "both are quick"); err != nil {
		return err
	}
	s.two.slow.Store(true)
	if err := s.ask(ctx, "two gets slow"); err != nil {
		return err
	}
	if err := s.ask(ctx, "its breaker is open"); err != nil {
		return err
	}
	s.two.slow.Store(false)
	if err := sleep(ctx, 220*time.Millisecond); err != nil {
		return err
	}
	return s.ask(ctx, "it is quick again")
}

// ask asks the proxy 20 times and says who answered.
func (s *stage) ask(ctx context.Context, when string) error {
	answers := make(map[string]int)
	for range 20 {
		resp, err := s.get(ctx, "/hello", nil)
		if err != nil {
			return err
		}
		name, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		answers[string(name)]++
	}
	fmt.Fprintf(s.out, "   %-20s one answers %2d of 20, two answers %2d\n", when+":", answers["one"], answers["two"])
	return nil
}

// get asks the proxy, as somebody who knows nothing of Backstay.
func (s *stage) get(ctx context.Context, path string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	return s.network.RoundTrip(req)
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
