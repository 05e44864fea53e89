package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// Acceptance case A60.
func TestA60_ACallToATypeWithoutHostWaitsForOneOrTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		client := c.open()
		var got []string
		var all sync.WaitGroup
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := call(ctx, client, "a", "note", "late"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
		for i := range 5 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				c.call(client, "a", "note", strconv.Itoa(i))
			})
		}
		time.Sleep(time.Minute)
		c.open(hosting(map[string]run{"note": func(_ context.Context, a *runtime.Attempt) runtime.End { got = append(got, args(a)); return value("") }}))
		all.Wait()
		if s := fmt.Sprint(got); s != "[0 1 2 3 4]" {
			t.Errorf("ran %s", s)
		}
	})
}

// Acceptance case A62.
func TestA62_SubSecondDeadlinesAreHonouredToTheMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{"work": func(context.Context, *runtime.Attempt) runtime.End {
			time.Sleep(15 * time.Millisecond)
			return value("")
		}}))
		synctest.Wait()
		var all sync.WaitGroup
		for range 20 { // the last begins 285 ms after it was sent
			all.Go(func() {
				if _, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "work", TTL: 300})); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		all.Go(func() { c.call(n, "a", "work", "") })
		time.Sleep(time.Millisecond)
		start := time.Now()
		_, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "work", TTL: 7}))
		if d := time.Since(start); code(err) != runtime.CodeExpired || d < 7*time.Millisecond || d > 9*time.Millisecond {
			t.Errorf("got %v after %v", err, d)
		}
		all.Wait()
	})
}

// Acceptance case A63.
func TestA63_WhatExpiresBehindABusyActorIsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		ran := 0
		n := c.open(hosting(map[string]run{
			"slow": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(10 * time.Second); return value("") },
			"fast": func(context.Context, *runtime.Attempt) runtime.End { ran++; return value("") },
		}))
		var all sync.WaitGroup
		all.Go(func() { c.call(n, "a", "slow", "") })
		time.Sleep(time.Millisecond)
		start := time.Now()
		all.Go(func() {
			_, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "fast", TTL: 2000}))
			if d := time.Since(start); code(err) != runtime.CodeExpired || d > 2100*time.Millisecond {
				t.Errorf("got %v after %v", err, d)
			}
		})
		if err := n.Tell(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "fast", Args: []byte("x"), TTL: 3000, Baggage: []byte("b")}); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		synctest.Wait()
		letters := c.log.(*memory.Log).Messages("dead")
		if len(letters) != 1 || ran != 0 {
			t.Fatalf("%d dead letters, ran %d", len(letters), ran)
		}
		if m := letters[0]; headerOf(m, runtime.HeaderReason) != "expired" || headerOf(m, runtime.HeaderWaited) != "3000" || headerOf(m, runtime.HeaderBaggage) != "b" {
			t.Errorf("dead letter %+v", m)
		}
	})
}

// Acceptance case A64, A68.
func TestA64_ARetryOfABegunRequestRunsHoweverLateWithATimeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var left []time.Duration
		n := c.open(hosting(map[string]run{"late": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			at, _ := ctx.Deadline()
			left = append(left, time.Until(at))
			if a.Number() == 1 {
				<-ctx.Done()
				return runtime.End{Retry: &runtime.Retry{Reason: "late", After: time.Hour}}
			}
			return tailSelf("end", "")
		}, "end": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
			at, _ := ctx.Deadline()
			left = append(left, time.Until(at))
			return value(fmt.Sprint(ctx.Err()))
		}}))
		v, err := result(n.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "late", TTL: 1000}))
		if v != "<nil>" || err != nil || fmt.Sprint(left) != "[1s 30s 30s]" {
			t.Errorf("got %q, %v, left %v", v, err, left)
		}
	})
}

// Acceptance case A65.
func TestA65_TellsDoNotInheritTheDeadlineOfTheirSendersContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		ran := make(chan int64, 1)
		client := c.open()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := client.Tell(ctx, runtime.ClientCall{Target: actor("t", "a"), Method: "note"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		c.open(hosting(map[string]run{"note": func(_ context.Context, a *runtime.Attempt) runtime.End { ran <- a.Request().Deadline; return value("") }}))
		if d := <-ran; d != 0 {
			t.Errorf("deadline %d", d)
		}
	})
}

// Acceptance case A66.
func TestA66_ARetryStormDrainsByItselfWithDeadlinesAndNotWithout(t *testing.T) {
	const calls = 20_000
	storm := func(t *testing.T, ttl int64) (drained time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1)
			defer c.stop()
			typ := hosting(map[string]run{
				"stuck": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Minute); return value("") },
				"work": func(context.Context, *runtime.Attempt) runtime.End {
					time.Sleep(10 * time.Millisecond)
					return value("")
				},
			})
			typ.Mailbox, typ.StepTimeout, typ.BusyAfter = -1, -1, -1
			n := c.openWith(runtime.Config{}, typ)
			c.tell(n, "a", "stuck", "")
			for range calls {
				if err := n.Tell(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "work", TTL: ttl}); err != nil {
					t.Fatal(err)
				}
			}
			start := time.Now()
			for drained = time.Minute; drained < 4*time.Minute; drained = time.Since(start) {
				time.Sleep(time.Second)
				if n.Inspect(t.Context()).Partitions[0].Requests == 0 {
					return
				}
			}
		})
		return drained
	}
	if d := storm(t, 1000); d > 70*time.Second {
		t.Errorf("with deadlines it took %v", d)
	}
	if d := storm(t, 0); d < 3*time.Minute {
		t.Errorf("without deadlines it took %v only", d)
	}
}

// skewed is a log as seen by a process whose clock is wrong: so for it the log
// is that much ahead.
type skewed struct {
	journal.Log
	by time.Duration
}

func (s skewed) Append(p partition, data []byte, done func(journal.Place, error)) {
	r, _ := record.Decode(data)
	if m, ok := r.(*record.ClientRequest); ok { // what the process writes, it writes by its own clock
		m.Until -= s.by.Milliseconds()
		if m.Deadline > 0 {
			m.Deadline -= s.by.Milliseconds()
		}
		data = record.Encode(m)
	}
	s.Log.Append(p, data, func(at journal.Place, err error) {
		at.At += s.by.Milliseconds()
		done(at, err)
	})
}

// Acceptance case A67.
func TestA67_AWrongClockOfTheSenderNeitherExpiresNorKeepsItsMessages(t *testing.T) {
	for _, by := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1)
			defer c.stop()
			c.open(hosting(map[string]run{"work": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(time.Second); return value("ok") }}))
			synctest.Wait()
			right := c.log
			c.log = skewed{right, by}
			client := c.open()
			c.log = right
			if v, err := result(client.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "work", TTL: 500})); v != "ok" || err != nil {
				t.Errorf("by %v: %q, %v", by, v, err)
			}
			var all sync.WaitGroup
			all.Go(func() { c.call(client, "a", "work", "") })
			time.Sleep(time.Millisecond)
			if _, err := result(client.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "work", TTL: 500})); code(err) != runtime.CodeExpired {
				t.Errorf("by %v: %v", by, err)
			}
			if err := client.Tell(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "work"}); err != nil {
				t.Error(err)
			}
			all.Wait()
		})
	}
}

// Acceptance case A81.
func TestA81_ADeadlineIsNotRenewedByWaitingInAnOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		stuck := true
		l := &link{before: func(_ int, _ partition, r record.Record) bool {
			m, mail := r.(*record.Mail)
			if !mail || !stuck {
				return false
			}
			_, request := m.Message.(*record.Request)
			return request
		}}
		ran := 0
		methods := map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				p, _ := a.Go(record.Call{Target: actor("t", "b"), Method: "inner", TTL: 5000})
				_, err := result(p.Await(context.WithoutCancel(ctx)))
				return value(code(err))
			},
			"inner": func(context.Context, *runtime.Attempt) runtime.End { ran++; return value("") },
		}
		client := c.open()
		first := c.openOn(l, runtime.Config{}, hosting(methods))
		done := make(chan string)
		go func() { done <- c.call(client, "a", "main", "") }()
		time.Sleep(time.Minute)
		l.crash()
		c.open(hosting(methods)) // sends it: a minute too late
		time.Sleep(time.Minute)
		if ran != 1 { // the retry's own call, which is new
			t.Errorf("the callee ran %d times", ran)
		}
		if v := <-done; v != "" {
			t.Errorf("got %q", v)
		}
		kill(first)
	})
}
