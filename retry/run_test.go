package retry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// constant makes every wait d.
func constant(d time.Duration) retry.Option {
	return retry.WithBackOff(func() backoff.BackOff { return backoff.NewConstantBackOff(d) })
}

func TestDoReturnsTheFirstSuccess(t *testing.T) {
	p := policy(t, retry.Config{Base: retry.NoWait})
	for _, errs := range [][]error{nil, {errDown}, {errDown, errDown}} {
		if got, err := retry.Do(t.Context(), p, failing(errs...)); got != len(errs)+1 || err != nil {
			t.Errorf("after %d failures got %v, %v", len(errs), got, err)
		}
	}
}

func TestANilPolicyCallsOnce(t *testing.T) {
	var p *retry.Policy
	calls := 0
	if _, err := retry.Do(t.Context(), p, always(errDown, &calls)); !same(err, errDown) || calls != 1 {
		t.Errorf("Do returned %v after %d calls", err, calls)
	}
	x := &protocol{}
	want := unavailable()
	got, err := retry.Run(t.Context(), p, x, 1, func(context.Context, int) (*answer, error) { return want, nil })
	if got != want || err != nil || x.trace != nil {
		t.Errorf("Run returned %v, %v and asked %q", got, err, x.trace)
	}
	if p.Clone(nil) != nil || p.Budget() != nil || p.Config() != (retry.Config{MaxAttempts: 1}) {
		t.Error("a nil policy is not absent")
	}
}

func TestEveryAttemptButTheFirstGetsAForkAfterTheAnswerIsDiscarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &protocol{}
		answers := []*answer{unavailable(), unavailable(), {}}
		began := time.Now()
		var asked []int
		r, err := retry.Run(t.Context(), policy(t, retry.Config{}, constant(time.Second)), x, 10,
			func(_ context.Context, q int) (*answer, error) {
				if q > 10 && !answers[len(asked)-1].discarded.Load() {
					t.Error("an attempt begins before the answer of the one before is freed")
				}
				asked = append(asked, q)
				return answers[len(asked)-1], nil
			})
		if err != nil || r != answers[2] || r.discarded.Load() {
			t.Errorf("got %+v, %v", r, err)
		}
		if !slices.Equal(asked, []int{10, 12, 13}) {
			t.Errorf("was asked %v", asked)
		}
		want := []string{"repeat 10", "discard", "fork 10 2", "repeat 10", "discard", "fork 10 3"}
		if !slices.Equal(x.trace, want) {
			t.Errorf("asked the protocol %q, want %q", x.trace, want)
		}
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestAnAnswerIsFreedBeforeTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := unavailable()
		go func() {
			time.Sleep(time.Second / 2)
			if !first.discarded.Load() {
				t.Error("is held during the wait")
			}
		}()
		answers := []*answer{first, {}}
		_, _ = retry.Run(t.Context(), policy(t, retry.Config{}, constant(time.Second)), &protocol{}, 0,
			func(ctx context.Context, _ int) (*answer, error) { return answers[retry.Attempt(ctx)-1], nil })
	})
}

func TestTheLastAnswerIsReturnedAsItIs(t *testing.T) {
	tests := map[string]struct {
		config  retry.Config
		x       protocol
		outcome backstay.Outcome
		ctx     func(context.Context) context.Context
		calls   int
	}{
		"when attempts are used up": {outcome: unavailable().Outcome, calls: 3},
		"C28b when the budget is empty": {
			config:  retry.Config{Budget: retry.BudgetConfig{Burst: retry.NoBurst}},
			outcome: unavailable().Outcome, calls: 1,
		},
		"C18 when the server asks for a wait too long": {
			outcome: backstay.Outcome{Class: backstay.Overload, RetryAfter: 100 * time.Second}, calls: 1,
		},
		"when the request is not repeatable":    {x: protocol{unrepeatable: errors.New("POST")}, outcome: unavailable().Outcome, calls: 1},
		"when the server says not to retry":     {outcome: backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}, calls: 1},
		"when the answer is the caller's fault": {outcome: backstay.Outcome{Class: backstay.Permanent}, calls: 1},
		"when the answer is a fault":            {outcome: backstay.Outcome{Class: backstay.Fault}, calls: 1},
		"when a layer above retries":            {outcome: unavailable().Outcome, ctx: retry.Suppress, calls: 1},
		"when the call must not be retried":     {outcome: unavailable().Outcome, ctx: retry.Never, calls: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if test.ctx != nil {
					ctx = test.ctx(ctx)
				}
				calls := 0
				var last *answer
				r, err := retry.Run(ctx, policy(t, test.config), &test.x, 0, func(context.Context, int) (*answer, error) {
					calls++
					last = &answer{Outcome: test.outcome}
					return last, nil
				})
				if err != nil || r != last || r.discarded.Load() {
					t.Errorf("got %+v, %v, want the last answer, unread", r, err)
				}
				if calls != test.calls {
					t.Errorf("%d attempts, want %d", calls, test.calls)
				}
			})
		})
	}
}

// Acceptance case C18, C54.
func TestC18_C54_AWaitThatDoesNotFitEndsTheCallAtOnce(t *testing.T) {
	tests := map[string]struct {
		left   time.Duration
		err    error
		option retry.Option
		wait   time.Duration
	}{
		"our own of 1 s in 200 ms":       {200 * time.Millisecond, errDown, constant(time.Second), time.Second},
		"our own of 10 s in 100 ms":      {100 * time.Millisecond, errDown, constant(10 * time.Second), 10 * time.Second},
		"the server's of 10 s in 100 ms": {100 * time.Millisecond, backstay.RetryAfter(errDown, 10*time.Second), constant(0), 10 * time.Second},
		"the server's of 100 s in 30 s":  {30 * time.Second, backstay.RetryAfter(errDown, 100*time.Second), constant(0), 100 * time.Second},
		"one that leaves too little":     {100 * time.Millisecond, errDown, constant(91 * time.Millisecond), 91 * time.Millisecond},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.left)
				defer cancel()
				began, calls := time.Now(), 0
				_, err := retry.Do(ctx, policy(t, retry.Config{}, test.option), always(test.err, &calls))
				if waited := time.Since(began); waited != 0 || calls != 1 {
					t.Errorf("%d attempts in %v", calls, waited)
				}
				var gaveUp *retry.ExhaustedError
				if !errors.As(err, &gaveUp) || !errors.Is(err, retry.ErrExhausted) || !errors.Is(err, errDown) {
					t.Fatalf("got %v", err)
				}
				if gaveUp.Reason != backstay.ReasonNoTime || gaveUp.Wait != test.wait || gaveUp.Attempts != 1 {
					t.Errorf("got %+v", gaveUp)
				}
				if !strings.Contains(err.Error(), "a wait of "+test.wait.String()+" does not fit") {
					t.Errorf("does not say so: %v", err)
				}
			})
		})
	}
}

// refusal is a local refusal, as an open breaker makes it.
type refusal struct{ remain time.Duration }

func (r *refusal) Error() string             { return "breaker open" }
func (r *refusal) Is(target error) bool      { return target == backstay.ErrRejected }
func (r *refusal) Outcome() backstay.Outcome { return backstay.Outcome{Class: backstay.Rejected} }

// Acceptance case C20.
func TestC20_ARejectionIsFinalAndNotWaitedFor(t *testing.T) {
	open := &refusal{remain: 3 * time.Second}
	for name, first := range map[string][]error{"at once": nil, "after a failure": {errDown}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := failing(append(first, open)...)
				began, calls := time.Now(), 0
				_, err := retry.Do(t.Context(), policy(t, retry.Config{Base: retry.NoWait}), func(ctx context.Context) (int, error) {
					calls++
					return f(ctx)
				})
				if first == nil && !same(err, open) {
					t.Errorf("got %v, want the rejection as it is", err)
				}
				if waited := time.Since(began); waited != 0 || calls != len(first)+1 {
					t.Errorf("%d calls in %v", calls, waited)
				}
			})
		})
	}
}

func TestARefusalAfterAnAttemptDoesNotSayThatNothingWasSent(t *testing.T) {
	open := &refusal{remain: 3 * time.Second}
	p := policy(t, retry.Config{Base: retry.NoWait})
	before := p.Budget().Available()
	_, err := retry.Do(t.Context(), p, failing(errDown, open))
	var refused *retry.RefusedError
	if !errors.As(err, &refused) || refused.Attempts != 1 {
		t.Fatalf("error %v", err)
	}
	if errors.Is(err, backstay.ErrRejected) {
		t.Error("matches ErrRejected, though a request was sent")
	}
	var was *refusal
	if !errors.Is(err, errDown) || !errors.As(err, &was) || was != open {
		t.Errorf("%v has lost the failure or the refusal", err)
	}
	if o := backstay.Classify(err); o.Class != backstay.Transient || !o.Final {
		t.Errorf("judged as %+v", o)
	}
	if after := p.Budget().Available(); after < before {
		t.Errorf("the retry that was not sent cost a token: %v before, %v after", before, after)
	}
}

// Acceptance case C23.
func TestC23_TheLastAttemptIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		_, err := retry.Do(t.Context(), policy(t, retry.Config{}, constant(time.Second)), always(errDown, &calls))
		if waited := time.Since(began); waited != 2*time.Second || calls != 3 {
			t.Errorf("%d attempts with waits of %v, want 3 and 2s", calls, waited)
		}
		var gaveUp *retry.ExhaustedError
		if !errors.As(err, &gaveUp) {
			t.Fatal(err)
		}
		want := retry.ExhaustedError{
			Attempts: 3, Elapsed: 2 * time.Second, Reason: backstay.ReasonExhausted, Last: errDown,
		}
		if *gaveUp != want {
			t.Errorf("got %+v, want %+v", *gaveUp, want)
		}
	})
}

func TestElapsedCountsFromTheStartWhereTheClockIsRead(t *testing.T) {
	slow := func(context.Context, struct{}) (int, error) {
		time.Sleep(time.Second)
		return 0, errDown
	}
	run := func(p *retry.Policy) (int, error) {
		return retry.Run(t.Context(), p, backstay.Plain[int]{}, struct{}{}, slow)
	}
	runAt := func(p *retry.Policy) (int, error) {
		began := backstay.Now().Add(-time.Minute)
		return retry.RunAt(t.Context(), began, p, nil, backstay.Plain[int]{}, struct{}{}, slow)
	}
	tests := map[string]struct {
		config retry.Config
		run    func(*retry.Policy) (int, error)
		want   time.Duration
	}{
		"with a budget it is the start":                  {retry.Config{Base: retry.NoWait}, run, 3 * time.Second},
		"without one it is the end of the first attempt": {retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}, run, 2 * time.Second},
		"RunAt is told": {retry.Config{Base: retry.NoWait}, runAt, 63 * time.Second},
		"RunAt is told also where there is no budget": {retry.Config{Base: retry.NoWait, Budget: retry.NoBudget}, runAt, 63 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := test.run(policy(t, test.config))
				var gaveUp *retry.ExhaustedError
				if !errors.As(err, &gaveUp) || gaveUp.Elapsed != test.want {
					t.Errorf("got %v, want %v", err, test.want)
				}
			})
		})
	}
}

func TestTheBackendsOwnErrorIsReturnedWhereAttemptsWereNotUsedUp(t *testing.T) {
	final := backstay.Mark(errDown, backstay.Outcome{Class: backstay.Overload, Marks: backstay.Marks{Final: true}})
	tests := map[string]struct {
		config retry.Config
		err    error
		ctx    func(context.Context) context.Context
	}{
		"a single attempt":             {retry.Config{MaxAttempts: 1}, errDown, nil},
		"the caller's mistake":         {retry.Config{}, backstay.PermanentError(errDown), nil},
		"a server that says so":        {retry.Config{}, final, nil},
		"backoff.Permanent":            {retry.Config{}, backoff.Permanent(errDown), nil},
		"a call within a retried call": {retry.Config{}, errDown, retry.Suppress},
		"a call that asks for none":    {retry.Config{}, errDown, retry.Never},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, calls := t.Context(), 0
			if test.ctx != nil {
				ctx = test.ctx(ctx)
			}
			_, err := retry.Do(ctx, policy(t, test.config), always(test.err, &calls))
			if !same(err, test.err) || calls != 1 {
				t.Errorf("got %v after %d attempts, want %v after one", err, calls, test.err)
			}
		})
	}
}

func TestTheProtocolIsAskedWithTheOutcome(t *testing.T) {
	x := &protocol{unrepeatable: errors.New("POST")}
	answers := []*answer{{Outcome: backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Unsent: true}}}, unavailable()}
	calls := 0
	r, err := retry.Run(t.Context(), policy(t, retry.Config{Base: retry.NoWait}), x, 0,
		func(context.Context, int) (*answer, error) {
			calls++
			return answers[calls-1], nil
		})
	if calls != 2 || r != answers[1] || err != nil {
		t.Errorf("%d attempts, got %v, %v: only the unsent one may be repeated", calls, r, err)
	}
}

func TestARequestThatCannotBeForkedEndsTheCallWithBothErrors(t *testing.T) {
	noBody := backstay.PermanentError(errors.New("no body"))
	for name, first := range map[string]error{"after an error": errDown, "after an answer": nil} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			r, err := retry.Run(t.Context(), policy(t, retry.Config{Base: retry.NoWait}), &protocol{fork: noBody}, 0,
				func(context.Context, int) (*answer, error) {
					calls++
					return unavailable(), first
				})
			if r != nil || calls != 1 {
				t.Errorf("got %v after %d attempts", r, calls)
			}
			if !errors.Is(err, noBody) || (first != nil && !errors.Is(err, first)) {
				t.Errorf("got %v", err)
			}
			// It is the backend that failed, whatever is wrong with the request.
			if got := backstay.Classify(err).Class; got != backstay.Transient {
				t.Errorf("is %v", got)
			}
		})
	}
}

func TestAPanicPassesThroughOnAnyAttempt(t *testing.T) {
	p := policy(t, retry.Config{Base: retry.NoWait})
	for _, when := range []int{1, 2} {
		func() {
			defer func() {
				if got := recover(); got != "boom" {
					t.Errorf("recovered %v", got)
				}
			}()
			_, _ = retry.Do(t.Context(), p, func(ctx context.Context) (int, error) {
				if retry.Attempt(ctx) == when {
					panic("boom")
				}
				return 0, errDown
			})
		}()
	}
}
