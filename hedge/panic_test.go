package hedge_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
)

var errAbort = errors.New("abort")

// recovered returns what f panics with.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// Acceptance case C51.
func TestC51_APanicReachesTheCallersOwnRecover(t *testing.T) {
	for name, tc := range map[string]struct {
		panics int           // which copy
		at     time.Duration // when, counted from its start
		fails  bool          // the first copy has failed by then
	}{
		"of the only copy":                        {panics: 1, at: ms},
		"of the first copy of two":                {panics: 1, at: 30 * ms},
		"of the second while the first runs":      {panics: 2, at: 5 * ms},
		"of the second after the first's failure": {panics: 2, at: 5 * ms, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(journal)
				p := must(t, hedge.Config{Delay: delay}, hedge.WithScope(seen.scope()))
				var running atomic.Int32
				v := recovered(func() {
					_, _ = hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
						running.Add(1)
						defer running.Add(-1)
						switch n := hedge.Copy(ctx); {
						case n == tc.panics:
							time.Sleep(tc.at)
							panic(errAbort)
						case tc.fails:
							return 0, errDown
						default:
							return 0, sleep(ctx, time.Hour)
						}
					})
				})
				if v != errAbort { //nolint:errorlint // the value itself
					t.Errorf("recovered %v", v)
				}
				closed(t, p)
				if n := running.Load(); n != 0 {
					t.Errorf("%d copies still run", n)
				}
				if tc.panics == 2 {
					checkStack(t, seen)
				}
			})
		})
	}
}

// checkStack checks that the panic of a later copy is told with its stack.
func checkStack(t *testing.T, seen *journal) {
	t.Helper()
	for _, e := range seen.of(backstay.HedgeDone) {
		if e.Copy != 2 {
			continue
		}
		told, ok := errors.AsType[*hedge.PanicError](e.Err)
		if !ok || told.Copy != 2 || !errors.Is(told, errAbort) || !strings.Contains(string(told.Stack), "panic_test.go") {
			t.Errorf("told %v", e.Err)
		}
		if e.Reason != backstay.ReasonHedgeLost || e.Outcome.Class != backstay.Fault {
			t.Errorf("told as %s, %v", e.Reason, e.Outcome.Class)
		}
		return
	}
	t.Error("the second copy's end is not told")
}

// Acceptance case C51.
func TestC51_ALatePanicIsToldAndHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := must(t, hedge.Config{Delay: delay}, hedge.WithScope(seen.scope()))
		got, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 1 {
				return 1, sleep(ctx, 30*ms)
			}
			<-ctx.Done()
			panic(errAbort)
		})
		if got != 1 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		closed(t, p)
		told := seen.of(backstay.CallbackPanicked)
		if len(told) != 1 || told[0].Copy != 2 || !errors.Is(told[0].Err, errAbort) {
			t.Errorf("told %+v", told)
		}
	})
}

// Acceptance case C51.
func TestC51_GoexitInACopyDoesNotHangTheRace(t *testing.T) {
	for name, exits := range map[string]int{"the first": 1, "the second": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := must(t, hedge.Config{Delay: delay})
				returned := make(chan bool, 1)
				go func() {
					ok := false
					defer func() { returned <- ok }()
					_, _ = hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
						if hedge.Copy(ctx) == exits {
							time.Sleep(30 * ms)
							runtime.Goexit()
						}
						return 0, sleep(ctx, time.Hour)
					})
					ok = true
				}()
				if <-returned {
					t.Error("the caller's goroutine went on")
				}
				closed(t, p)
			})
		})
	}
}

func TestALateGoexitIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		p := must(t, hedge.Config{Delay: delay}, hedge.WithScope(seen.scope()))
		got, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 2 {
				<-ctx.Done()
				runtime.Goexit()
			}
			return 1, sleep(ctx, 30*ms)
		})
		closed(t, p)
		if got != 1 || err != nil || len(seen.of(backstay.CallbackPanicked)) != 0 {
			t.Errorf("got %d, %v, events %v", got, err, seen.Events())
		}
	})
}

func TestAPanicFreesTheAnswersThatLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		failed := reply(overloaded)
		v := recovered(func() {
			_, _ = hedge.Run(t.Context(), p, &testkit.Fake{}, "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
				if hedge.Copy(ctx) == 2 {
					return failed, nil
				}
				time.Sleep(30 * ms)
				panic(errAbort)
			})
		})
		if v == nil || failed.Discarded.Load() != 1 {
			t.Errorf("recovered %v, discarded %d times", v, failed.Discarded.Load())
		}
		closed(t, p)
	})
}

// A callback that is asked for leave to send a copy runs on the timer's
// goroutine, where nobody could recover its panic.
func TestAPanicOfACallbackReachesTheCallerToo(t *testing.T) {
	var asked atomic.Int32
	gate := func() bool {
		if asked.Add(1) > 1 {
			panic(errAbort)
		}
		return true
	}
	for name, option := range map[string]hedge.Option{
		"of the gate":          hedge.WithGate(gate),
		"of the shared budget": hedge.WithBudget(explosive{}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(journal)
				p := must(t, hedge.Config{Delay: delay}, hedge.WithScope(seen.scope()), option)
				v := recovered(func() { call(t.Context(), p, copyPlan{after: time.Hour}) })
				if v != errAbort { //nolint:errorlint // the value itself
					t.Errorf("recovered %v", v)
				}
				if told := seen.of(backstay.CallbackPanicked); len(told) != 1 {
					t.Errorf("told %v", told)
				}
				closed(t, p)
			})
		})
	}
}

func TestAPanicOfACallbackLeavesTheAnswerBeforeItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(journal)
		var asked atomic.Int32
		gate := func() bool {
			if asked.Add(1) > 2 {
				panic(errAbort)
			}
			return true
		}
		p := must(t, hedge.Config{Delay: delay, MaxCopies: 2}, hedge.WithScope(seen.scope()), hedge.WithGate(gate))
		failed := reply(unavailable)
		v := recovered(func() { call(t.Context(), p, copyPlan{after: time.Hour}, copyPlan{after: ms, reply: failed}) })
		closed(t, p)
		if v == nil || failed.Discarded.Load() != 1 {
			t.Errorf("recovered %v, discarded %d times", v, failed.Discarded.Load())
		}
		if ends := seen.of(backstay.HedgeDone); len(ends) != 2 || ends[1].Err != nil || ends[1].Outcome.Class != backstay.Transient {
			t.Errorf("told %+v", ends)
		}
	})
}

type explosive struct{}

func (explosive) TrySpend() bool { panic(errAbort) }
