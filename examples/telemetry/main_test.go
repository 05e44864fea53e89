package main

import (
	"bytes"
	"context"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTheDayIsInTheMetrics(t *testing.T) {
	before := runtime.NumGoroutine()
	var out bytes.Buffer
	if err := show(t.Context(), &out, "127.0.0.1:0", false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`actor_steps_total +actor_type="shelf" operation="put" outcome="success" +[1-9]`,
		`actor_expired_total +actor_type="shelf" operation="put" +[1-9]`,
		`actor_refused_total +actor_type="shelf" operation="put" +[1-9]`,
		`actor_dead_letters_total +actor_type="shelf" operation="burn" reason="poison" +1`,
		`actor_takeovers_total +actor_type="shelf" +1`,
		`actor_takeover_duration_seconds_count +actor_type="shelf" phase="replay" +1`,
		`attempts_total +attempt_outcome="transient" +[1-9]`,
		`breaker_transitions_total +cause="failure_ratio" from="closed" to="open" +1`,
		`breaker_state +state="closed" +1`,
		`bulkhead_limit +20`,
		`fallbacks_total +rung="cached" +[1-9]`,
		`hedges_total +copy="2" reason="won" +[1-9]`,
		`policy_reloads_total +outcome="refused" +1`,
		`rejections_total +reason="breaker_open" +[1-9]`,
		`rejections_total +reason="bulkhead_full" +[1-9]`,
		`rejections_total +reason="too_late" +5`,
		`retries_total +reason="transient" +[1-9]`,
		`retries_suppressed_total +reason="budget_empty" +[1-9]`,
	} {
		if !regexp.MustCompile(line).Match(out.Bytes()) {
			t.Errorf("there is no line %s:\n%s", line, &out)
		}
	}
	nothingIsLeft(t, before)
}

func TestItCanBeInterrupted(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := show(ctx, new(bytes.Buffer), "127.0.0.1:0", true); err != nil {
		t.Error(err)
	}
	nothingIsLeft(t, before)
}

func TestAnAddressThatIsNoneIsAnError(t *testing.T) {
	before := runtime.NumGoroutine()
	if err := show(t.Context(), new(bytes.Buffer), "127.0.0.1:none", false); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
	nothingIsLeft(t, before)
}

// nothingIsLeft fails the test unless the goroutines are gone that were not
// there before.
func nothingIsLeft(t *testing.T, before int) {
	t.Helper()
	for range 500 { // connections end in the background
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
