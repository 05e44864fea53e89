package middleware_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// outliving is a target whose calls may leave something behind.
func outliving() middleware.Target {
	return only(middleware.Config{Hedge: &hedge.Config{Delay: 10 * ms}, Timeout: &timeout.Config{After: time.Second, Abandon: true}})
}

// leaveBehind makes a call whose second copy goes on for d after its answer.
func leaveBehind(ctx context.Context, p *middleware.Pipeline, d time.Duration) {
	_, _ = middleware.Race(ctx, p, nil, func(ctx context.Context) (int, error) {
		if hedge.Copy(ctx) == 2 {
			time.Sleep(d)
		}
		return 7, sleep(ctx, 50*ms)
	})
}

func TestAClosedPipelineRefuses(t *testing.T) {
	for name, listening := range map[string]bool{"silently": false, "aloud": true} {
		t.Run(name, func(t *testing.T) {
			seen := new(journal)
			var options []middleware.Option
			if listening {
				options = append(options, middleware.WithObserver(seen))
			}
			p := made(t, middleware.Standard("test"), options...)
			ctx, report := backstay.WithReport(t.Context())
			if _, err := middleware.Do(ctx, p, succeeds); err != nil {
				t.Fatal(err)
			}
			if err := p.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			reached := func(context.Context) (int, error) { t.Error("it was called"); return 0, nil }
			for _, ctx := range []context.Context{ctx, t.Context()} {
				_, err := middleware.Do(ctx, p, reached)
				refused(t, err, middleware.ErrClosed)
				_, err = middleware.Race(ctx, p, nil, reached)
				refused(t, err, middleware.ErrClosed)
				if o := backstay.Classify(err); o.Class != backstay.Rejected || !strings.Contains(err.Error(), "test") {
					t.Errorf("%v: %+v", err, o)
				}
			}
			if s := report.Summary(); s.Attempts != 0 || s.Reason != backstay.ReasonClosed || s.Outcome.Class != backstay.Rejected {
				t.Errorf("the report of a refused call: %+v", s)
			}
			if n := seen.counts(); listening && (n[backstay.CallRejected] != 4 || n[backstay.CallDone] != 5) {
				t.Errorf("events %v", n)
			}
			if !p.Status().Closed {
				t.Error("the status does not say so")
			}
		})
	}
}

func TestCloseWaitsForWhatThePipelineOwns(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *middleware.Pipeline){
		"a late copy": func(t *testing.T, p *middleware.Pipeline) { leaveBehind(t.Context(), p, time.Hour) },
		"an abandoned attempt": func(t *testing.T, p *middleware.Pipeline) {
			_, _ = middleware.Race(t.Context(), p, nil, deaf(time.Hour))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := middleware.New(outliving())
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				leave(t, p)
				if took := time.Since(began); took > 2*time.Second {
					t.Fatalf("the call took %v", took)
				}
				why := errors.New("the process must end")
				short, cancel := context.WithTimeoutCause(t.Context(), time.Minute, why)
				defer cancel()
				if err := p.Close(short); !errors.Is(err, why) || !strings.Contains(err.Error(), "test") {
					t.Errorf("with a short patience: %v", err)
				}
				if err := p.Close(t.Context()); err != nil || time.Since(began) < time.Hour {
					t.Errorf("closed after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestCallsUnderWayGoOnAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := made(t, middleware.Standard("test"))
		done := make(chan error)
		go func() {
			_, err := middleware.Do(t.Context(), p, answers(
				func(ctx context.Context) (int, error) { return 0, errors.Join(sleep(ctx, time.Second), errDown) }, slow(time.Second)))
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		if err := p.Close(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestClosingOnePipelineLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, outliving())
		a, b := r.Get("a", backstay.Now()), r.Get("b", backstay.Now())
		_, _ = middleware.Race(t.Context(), b, nil, deaf(time.Hour))
		began := time.Now()
		if err := a.Close(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("a was closed after %v: %v", time.Since(began), err)
		}
		_, err := through(t.Context(), r, "a", succeeds)
		refused(t, err, middleware.ErrClosed)
		if _, err := through(t.Context(), r, "b", deaf(time.Hour)); !errors.Is(err, timeout.ErrTimeout) || time.Since(began) != 1010*ms {
			t.Errorf("b no longer abandons: %v after %v", err, time.Since(began))
		}
		_ = r.Close(t.Context())
	})
}

func TestAClosedRegistryRefusesForEveryKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := outliving()
		target.Keys = middleware.Keys{Max: 2, IdleAfter: time.Second}
		r := registry(t, target)
		old := r.Get("old", backstay.Now())
		began := time.Now()
		leaveBehind(t.Context(), old, time.Hour)
		_, _ = through(t.Context(), r, "other", deaf(time.Hour))
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Close(short); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "test") {
			t.Errorf("with a short patience: %v", err)
		}
		for _, key := range []string{"old", "new"} {
			_, err := through(t.Context(), r, key, succeeds)
			refused(t, err, middleware.ErrClosed)
		}
		if err := r.Close(t.Context()); err != nil || time.Since(began) < time.Hour {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
	})
}

// Whoever still holds a pipeline that its registry has given up cannot leave
// anything behind that nobody waits for.
func TestARegistryWaitsForPipelinesThatItGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := outliving()
		target.Keys = middleware.Keys{Max: 1, IdleAfter: time.Second}
		r := registry(t, target)
		p := r.Get("old", backstay.Now())
		for i := range 10 {
			time.Sleep(time.Minute)
			r.Get(string(rune('a'+i)), backstay.Now())
		}
		if r.Get("old", backstay.Now()) == p {
			t.Fatal("it was not given up")
		}
		began := time.Now()
		leaveBehind(t.Context(), p, time.Hour)
		if err := r.Close(t.Context()); err != nil || time.Since(began) < time.Hour {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
	})
}
