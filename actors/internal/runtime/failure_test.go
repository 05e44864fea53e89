package runtime_test

import (
	"context"
	"fmt"
	"maps"
	stdruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

type partition = journal.Partition

// Acceptance case A25, A29, A30, A31, A32, A54.
func TestA29_EveryChainIsAnsweredOnceAndItsEffectsCountOnceWhereverAnOwnerDies(t *testing.T) {
	methods := callbacks()
	methods["chain"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
		_ = a.Tell(record.Call{Target: actor("t", "told"), Method: "inc"})
		if _, err := nested(ctx, a, actor("t", "c"), "inc", ""); err != nil {
			return value(err.Error())
		}
		return tailTo(actor("t", "d"), "inc", "")
	}
	maps.Copy(methods, counter())
	everyCrash(t, 4, methods, func(c *cluster, client *runtime.Node) {
		if v := c.call(client, "a", "chain", ""); v != "1" {
			c.Errorf("got %q", v)
		}
		time.Sleep(time.Minute) // tells
		for _, id := range []string{"told", "d"} {
			if v := c.call(client, id, "get", ""); v != "1" {
				c.Errorf("%s counted %s", id, v)
			}
		}
		if v := c.call(client, "c", "get", ""); v != "1" && v != "2" { // a retried caller calls again
			c.Errorf("c counted %s", v)
		}
	})
}

// Acceptance case A12, A39, A42, A54.
func TestA39_CallbacksAreAdmittedAndStateIsIntactWhereverAnOwnerDies(t *testing.T) {
	everyCrash(t, 2, callbacks(), func(c *cluster, client *runtime.Node) {
		v := c.call(client, "a", "main", "")
		n, _ := strconv.Atoi(v)
		if got := c.call(client, "a", "get", ""); got != v || n < 111 || n/100 != 1 {
			c.Errorf("answered %s, kept %s", v, got)
		}
	})
}

// Acceptance case A33, A34, A35, A36, A40.
func TestA40_AfterACrashTheInnermostEndsBeforeItsCallerIsRetried(t *testing.T) {
	for _, crashAt := range []string{"a", "b", "c"} {
		t.Run("crash in "+crashAt, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 4)
				defer c.stop()
				var mu sync.Mutex
				var order []string
				note := func(s string) { mu.Lock(); order = append(order, s); mu.Unlock() }
				l := new(link)
				crash := sync.OnceFunc(l.crash)
				level := func(name, next string, host int) run {
					return func(ctx context.Context, a *runtime.Attempt) runtime.End {
						if next != "" {
							_, _ = nested(ctx, a, actor("t", next), next, "")
						}
						if name == crashAt && host == 1 {
							crash()
							<-ctx.Done()
						}
						note(name)
						return value("")
					}
				}
				host := func(n int) runtime.Type {
					return hosting(map[string]run{"a": level("a", "b", n), "b": level("b", "c", n), "c": level("c", "", n)})
				}
				client := c.open()
				first := c.openOn(l, runtime.Config{Name: "first"}, host(1))
				synctest.Wait()
				var all sync.WaitGroup
				all.Go(func() { c.call(client, "a", "a", "") })
				synctest.Wait()
				c.open(host(2))
				all.Wait()
				mu.Lock()
				if i, j, k := slices.Index(order, "c"), slices.Index(order, "b"), slices.Index(order, "a"); order[len(order)-1] != "a" || i > j || j > k {
					t.Errorf("ended in the order %v", order)
				}
				mu.Unlock()
				kill(first)
			})
		})
	}
}

// Acceptance case A38.
func TestA38_ALateAnswerToADeadAttemptNeverAnswersTheNextAttemptsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		calls := 0
		n := c.open(hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				v, err := nested(short, a, actor("t", "b"), "slow", "")
				if err != nil {
					return again("slow")
				}
				return value(v)
			},
			"slow": func(context.Context, *runtime.Attempt) runtime.End {
				calls++
				n := calls
				if n == 1 {
					time.Sleep(5 * time.Second)
				}
				return value(strconv.Itoa(n))
			},
		}))
		if v := c.call(n, "a", "main", ""); v != "2" {
			t.Errorf("got the answer of call %s", v)
		}
	})
}

// Acceptance case A41.
func TestA41_AfterACrashAHeldChainGoesOnBeforeWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var mu sync.Mutex
		var order []string
		note := func(s string) { mu.Lock(); order = append(order, s); mu.Unlock() }
		l := new(link)
		host := func(n int) runtime.Type {
			return hosting(map[string]run{
				"one": func(context.Context, *runtime.Attempt) runtime.End { note("one"); return tailSelf("two", "") },
				"two": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
					if n == 1 {
						time.Sleep(time.Second)
						l.crash()
						<-ctx.Done()
					}
					note("two")
					return value("")
				},
				"other": func(context.Context, *runtime.Attempt) runtime.End { note("other"); return value("") },
			})
		}
		client := c.open()
		first := c.openOn(l, runtime.Config{}, host(1))
		var all sync.WaitGroup
		all.Go(func() { c.call(client, "a", "one", "") })
		time.Sleep(500 * time.Millisecond)
		all.Go(func() { c.call(client, "a", "other", "") })
		time.Sleep(time.Second)
		c.open(host(2))
		all.Wait()
		mu.Lock()
		if s := strings.Join(order, " "); s != "one two other" {
			t.Errorf("ran %s", s)
		}
		mu.Unlock()
		kill(first)
	})
}

// Acceptance case A45.
func TestA45_WhatFailsTooOftenIsADeadLetterAndHoldsNobodyElseUp(t *testing.T) {
	for name, fail := range map[string]func() runtime.End{
		"panic":  func() runtime.End { panic("ouch") },
		"goexit": func() runtime.End { stdruntime.Goexit(); return runtime.End{} },
		"retry":  func() runtime.End { return again("not now") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 1)
				defer c.stop()
				runs := 0
				n := c.open(hosting(map[string]run{
					"bad":  func(context.Context, *runtime.Attempt) runtime.End { runs++; return fail() },
					"good": func(context.Context, *runtime.Attempt) runtime.End { return value("good") },
				}))
				var all sync.WaitGroup
				all.Go(func() {
					_, err := call(t.Context(), n, "a", "bad", "x")
					if code(err) != runtime.CodePoison || runs != 5 {
						t.Errorf("got %v after %d runs", err, runs)
					}
				})
				synctest.Wait()
				if v := c.call(n, "b", "good", ""); v != "good" {
					t.Errorf("another actor: %q", v)
				}
				all.Wait()
				synctest.Wait()
				letters := c.log.(*memory.Log).Messages("dead")
				if len(letters) != 1 || string(letters[0].Value) != "x" || headerOf(letters[0], runtime.HeaderReason) != runtime.CodePoison || headerOf(letters[0], runtime.HeaderAttempts) != "5" {
					t.Errorf("dead letters: %+v", letters)
				}
			})
		})
	}
}

func headerOf(m journal.Message, name string) string {
	for _, h := range m.Headers {
		if h.Name == name {
			return string(h.Value)
		}
	}
	return ""
}

// Acceptance case A46.
func TestA46_AMethodThatAnotherMemberHasFailsUntilThePartitionMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		old := hosting(map[string]run{"old": func(context.Context, *runtime.Attempt) runtime.End { return value("") }})
		old.Backoff = func(uint64) time.Duration { return time.Second }
		old.MaxAttempts = 100
		first := c.openOn(new(link), runtime.Config{}, old)
		synctest.Wait()
		fresh := hosting(map[string]run{"new": func(context.Context, *runtime.Attempt) runtime.End { return value("new") }})
		fresh.MaxAttempts = 100
		c.open(fresh)
		var got [16]string
		var all sync.WaitGroup
		client := c.open()
		for i := range got {
			all.Go(func() { got[i] = c.call(client, strconv.Itoa(i), "new", "") })
		}
		time.Sleep(5 * time.Second)
		if err := first.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		all.Wait()
		for _, v := range got {
			if v != "new" {
				t.Errorf("got %q", v)
			}
		}
	})
}

// Acceptance case A79.
func TestA79_AMethodThatKillsItsProcessIsDeadLetteredAfterMaxAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		client := c.open()
		var kills atomic.Int32
		open := func() (*link, *runtime.Node) {
			l := new(link)
			return l, c.openOn(l, runtime.Config{}, hosting(map[string]run{
				"die": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
					kills.Add(1)
					l.crash()
					<-ctx.Done()
					return value("")
				},
				"good": func(context.Context, *runtime.Attempt) runtime.End { return value("good") },
			}))
		}
		done := make(chan error)
		go func() {
			_, err := call(t.Context(), client, "a", "die", "")
			done <- err
		}()
		var dead []*runtime.Node
		for range 12 {
			l, n := open()
			time.Sleep(10 * time.Second)
			if !l.isDead() {
				c.nodes = append(c.nodes, n)
				break
			}
			dead = append(dead, n)
		}
		if err := <-done; code(err) != runtime.CodePoison {
			t.Errorf("got %v", err)
		}
		if k := kills.Load(); k != 5 && k != 6 { // the first is on record only if it was there before its owner
			t.Errorf("killed %d processes", k)
		}
		if v := c.call(client, "b", "good", ""); v != "good" {
			t.Errorf("another actor: %q", v)
		}
		for _, n := range dead {
			kill(n)
		}
	})
}

// Acceptance case A53.
func TestA53_RecoveryOfOnePartitionDoesNotStopOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		methods := counter()
		l := new(link)
		first := c.openOn(l, runtime.Config{}, hosting(methods))
		c.open(hosting(methods))
		synctest.Wait()
		client := c.open()
		mine, _ := c.nodes[0].Inspect(t.Context()), 0
		owned := make(map[uint32]bool)
		for _, p := range mine.Partitions {
			owned[p.Index] = true
		}
		l.mu.Lock()
		l.dead = true
		l.mu.Unlock()
		for i := range 50 {
			id := fmt.Sprint(i)
			if !owned[record.PartitionOf(id, 8)] {
				continue
			}
			start := time.Now()
			if c.call(client, id, "inc", ""); time.Since(start) > 10*time.Millisecond {
				t.Errorf("%s waited %v", id, time.Since(start))
			}
		}
		l.evict()
		kill(first)
	})
}
