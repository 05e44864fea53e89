package main

import (
	"bytes"
	"context"
	"regexp"
	"runtime"
	"testing"
	"time"
)

// Each row says what a scene claims: to the audience, and in the number of
// requests that really arrived.
func TestEverySceneShowsWhatItClaims(t *testing.T) {
	payments := func(s *stage) int64 { return s.payments.seen() }
	menu := func(s *stage) int64 { return s.menu.seen() }
	for _, row := range []struct {
		name        string
		play        func(context.Context, *stage) error
		says        []string
		seen        func(*stage) int64
		least, most int64
	}{
		{"a retry saves the call", showRetry,
			[]string{`its caller gets "200 paid"`, `success after 2 attempts`}, payments, 2, 2},
		{"the budget bounds the load of an outage", showBudget,
			[]string{`could be 150 requests`, `it sees 58:`}, payments, 50 + 5 + 3, 50 + 5 + 3},
		{"the breaker opens, and closes after a probe", showBreaker,
			[]string{`closed -> open`, `sees 10; 20 are refused`, `half-open -> closed`, `"200 paid"`}, payments, 1, 1},
		{"the copy wins", showHedge,
			[]string{`"200 soup, fish, cake" after .*: success after 1 attempt, copy 2 won`}, menu, 2, 2},
		{"the stale answer is given and marked", showFallback,
			[]string{`"200 soup, fish, cake"`, `degraded: cached, [1-9]\d*m?s old`}, menu, 1, 1},
		{"the service is told what is left", showDeadline,
			[]string{`payments is told that \d+ms are left`}, payments, 1, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			s := newStage(&out)
			err := row.play(t.Context(), s)
			if err := s.close(t.Context()); err != nil {
				t.Error(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, claim := range row.says {
				if !regexp.MustCompile(claim).Match(out.Bytes()) {
					t.Errorf("it does not say %q:\n%s", claim, &out)
				}
			}
			if n := row.seen(s); n < row.least || n > row.most {
				t.Errorf("%d requests arrived, want %d to %d", n, row.least, row.most)
			}
		})
	}
}

func TestNothingOutlivesTheStage(t *testing.T) {
	before := runtime.NumGoroutine()
	var out bytes.Buffer
	s := newStage(&out)
	for _, scene := range scenes {
		if err := scene.play(t.Context(), s); err != nil {
			t.Errorf("%s: %v", scene.title, err)
		}
	}
	if err := s.close(t.Context()); err != nil {
		t.Error(err)
	}
	for range 500 { // connections end in the background
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
