package hedge_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
)

const ms = time.Millisecond

var (
	good        = backstay.Outcome{}
	unavailable = backstay.Outcome{Class: backstay.Transient}
	overloaded  = backstay.Outcome{Class: backstay.Overload}
	notFound    = backstay.Outcome{Class: backstay.Permanent}
	refused     = backstay.Outcome{Class: backstay.Rejected}
)

func TestRaces(t *testing.T) {
	for name, tc := range map[string]struct {
		copies []copyPlan
		winner int // which plan's reply comes back
		sent   int
		took   time.Duration
		config hedge.Config
	}{
		"a quick call has no second copy": {
			copies: []copyPlan{{after: 19 * ms, reply: reply(good)}},
			winner: 1, sent: 1, took: 19 * ms,
		},
		"a slow call has, and the quicker wins": {
			copies: []copyPlan{{after: time.Hour}, {after: 5 * ms, reply: reply(good)}},
			winner: 2, sent: 2, took: 25 * ms,
		},
		"the first may still win": {
			copies: []copyPlan{{after: 30 * ms, reply: reply(good)}, {after: time.Hour}},
			winner: 1, sent: 2, took: 30 * ms,
		},
		"C35: the hedge fails at once, the primary would succeed": {
			copies: []copyPlan{{after: 100 * ms, reply: reply(good)}, {reply: reply(unavailable)}},
			winner: 1, sent: 2, took: 100 * ms,
		},
		"C36: the hedge answers 503 first, the primary 200 later": {
			copies: []copyPlan{{after: 100 * ms, reply: reply(good)}, {after: 30 * ms, reply: reply(overloaded)}},
			winner: 1, sent: 2, took: 100 * ms,
		},
		"the primary answers 503 first, the hedge 200 later": {
			copies: []copyPlan{{after: 30 * ms, reply: reply(unavailable)}, {after: 100 * ms, reply: reply(good)}},
			winner: 2, sent: 2, took: 120 * ms,
		},
		"a quick failure starts the next copy at once": {
			copies: []copyPlan{{after: 3 * ms, reply: reply(unavailable)}, {after: 4 * ms, reply: reply(good)}},
			winner: 2, sent: 2, took: 7 * ms,
		},
		"an overload does not": {
			copies: []copyPlan{{after: 3 * ms, reply: reply(overloaded)}},
			winner: 1, sent: 1, took: 3 * ms,
		},
		"a permanent failure of the hedge ends the race": {
			copies: []copyPlan{{after: time.Hour}, {after: ms, reply: reply(notFound)}},
			winner: 2, sent: 2, took: 21 * ms,
		},
		"a permanent failure of the primary does so too": {
			copies: []copyPlan{{after: 21 * ms, reply: reply(notFound)}, {after: time.Hour}},
			winner: 1, sent: 2, took: 21 * ms,
		},
		"a rejected first copy ends a call without others": {
			copies: []copyPlan{{after: ms, reply: reply(refused)}},
			winner: 1, sent: 1, took: ms,
		},
		"a rejected hedge leaves it to the primary": {
			copies: []copyPlan{{after: 50 * ms, reply: reply(good)}, {reply: reply(refused)}},
			winner: 1, sent: 2, took: 50 * ms,
		},
		"if all fail, the primary's answer is the answer": {
			copies: []copyPlan{{after: 22 * ms, reply: reply(unavailable)}, {after: 50 * ms, reply: reply(unavailable)}},
			winner: 1, sent: 2, took: 70 * ms,
		},
		"but not if the primary was never sent": {
			copies: []copyPlan{{after: 22 * ms, reply: reply(refused)}, {after: 50 * ms, reply: reply(unavailable)}},
			winner: 2, sent: 2, took: 70 * ms,
		},
		"a third copy follows a delay after the second": {
			config: hedge.Config{MaxCopies: 2},
			copies: []copyPlan{{after: time.Hour}, {after: time.Hour}, {after: 5 * ms, reply: reply(good)}},
			winner: 3, sent: 3, took: 45 * ms,
		},
		"a third copy follows a delay after a hastened second": {
			config: hedge.Config{MaxCopies: 2},
			copies: []copyPlan{{after: 10 * ms, reply: reply(unavailable)}, {after: time.Hour}, {after: ms, reply: reply(good)}},
			winner: 3, sent: 3, took: 31 * ms,
		},
		"a failed second copy hastens the third": {
			config: hedge.Config{MaxCopies: 2},
			copies: []copyPlan{{after: time.Hour}, {after: 2 * ms, reply: reply(unavailable)}, {after: 3 * ms, reply: reply(good)}},
			winner: 3, sent: 3, took: 25 * ms,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.config.Delay = delay
				p := must(t, tc.config)
				ctx, report := backstay.WithReport(t.Context())
				got := call(ctx, p, tc.copies...)
				if got.err != nil || got.reply != tc.copies[tc.winner-1].reply {
					t.Errorf("got %v, %v, not the reply of copy %d", got.reply, got.err, tc.winner)
				}
				if got.sent != tc.sent || got.took != tc.took {
					t.Errorf("%d copies in %v, want %d in %v", got.sent, got.took, tc.sent, tc.took)
				}
				closed(t, p)
				for i, plan := range tc.copies {
					checkReply(t, plan.reply, i+1 == tc.winner)
				}
				if s := report.Summary(); s.Copies != tc.sent-1 || (tc.sent > 1) != (s.Winner == tc.winner) {
					t.Errorf("the report tells of %d copies, copy %d won", s.Copies, s.Winner)
				}
			})
		})
	}
}

// checkReply checks that a reply was bound if it won, and discarded if not.
func checkReply(t *testing.T, r *testkit.Reply, won bool) {
	t.Helper()
	switch {
	case r == nil:
	case won && (r.Bound.Load() != 1 || r.Discarded.Load() != 0):
		t.Errorf("the winner was bound %d times and discarded %d times", r.Bound.Load(), r.Discarded.Load())
	case !won && (r.Bound.Load() != 0 || r.Discarded.Load() != 1):
		t.Errorf("a loser was bound %d times and discarded %d times", r.Bound.Load(), r.Discarded.Load())
	}
}

func TestTheLastErrorIsThePrimarysAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		got := call(t.Context(), p, copyPlan{after: 30 * ms, err: errDown}, copyPlan{after: 5 * ms, err: errors.New("other")})
		if got.err != errDown { //nolint:errorlint // as it is
			t.Errorf("got %v", got.err)
		}
		closed(t, p)
	})
}

func TestALoserOnTheCallersGoroutineIsCancelledAndWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		var cause error
		unwound := false
		got, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			n := hedge.Copy(ctx)
			if n == 1 {
				<-ctx.Done()
				cause = context.Cause(ctx)
				time.Sleep(7 * ms)
				unwound = true
				return 0, ctx.Err()
			}
			return n, nil
		})
		if got != 2 || err != nil || !unwound {
			t.Errorf("got %d, %v, waited for the loser: %t", got, err, unwound)
		}
		if !errors.Is(cause, hedge.ErrLost) || !errors.Is(cause, context.Canceled) {
			t.Errorf("the cause is %v", cause)
		}
		if o := backstay.Classify(cause); o.Class != backstay.Canceled {
			t.Errorf("a lost race is judged %v", o.Class)
		}
	})
}

func TestALaterLoserIsNotWaitedForByTheCallButByClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		ended := make(chan error, 1)
		began := time.Now()
		_, err := hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
			if hedge.Copy(ctx) == 2 {
				time.Sleep(time.Minute) // deaf
				ended <- context.Cause(ctx)
				return 0, ctx.Err()
			}
			return 1, sleep(ctx, 30*ms)
		})
		if err != nil || time.Since(began) != 30*ms {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		closed(t, p)
		if got := time.Since(began); got != time.Minute+delay {
			t.Errorf("Close returned after %v", got)
		}
		if cause := <-ended; !errors.Is(cause, hedge.ErrLost) {
			t.Errorf("the cause is %v", cause)
		}
	})
}

func TestTheWinnersContextLivesAsLongAsItsAnswer(t *testing.T) {
	for _, winner := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			p := must(t, hedge.Config{Delay: delay})
			contexts := make([]context.Context, 3)
			r, err := hedge.Run(t.Context(), p, &testkit.Fake{}, "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
				n := hedge.Copy(ctx)
				contexts[n] = ctx
				if n != winner {
					return nil, sleep(ctx, time.Hour)
				}
				return reply(good), sleep(ctx, 30*ms)
			})
			if err != nil {
				t.Fatal(err)
			}
			closed(t, p)
			if err := contexts[winner].Err(); err != nil {
				t.Errorf("the context of winner %d ended early: %v", winner, err)
			}
			if contexts[3-winner].Err() == nil {
				t.Error("the loser's context lives")
			}
			r.Close()
			if err := contexts[winner].Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("the context of winner %d after its answer: %v", winner, err)
			}
		})
	}
}

func TestTheCallersEndEndsAllCopies(t *testing.T) {
	why := errors.New("shutting down")
	for name, tc := range map[string]struct {
		first copyPlan
		want  []error
	}{
		"while the first runs": {copyPlan{after: time.Hour}, []error{context.Canceled}},
		"while only the second runs": {
			copyPlan{after: 22 * ms, err: errDown},
			[]error{context.Canceled, why, errDown},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := must(t, hedge.Config{Delay: delay})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(50*ms, func() { cancel(why) })
				got := call(ctx, p, tc.first, copyPlan{after: time.Hour})
				if got.took != 50*ms {
					t.Errorf("returned after %v", got.took)
				}
				for _, want := range tc.want {
					if !errors.Is(got.err, want) {
						t.Errorf("%v does not match %v", got.err, want)
					}
				}
				closed(t, p)
			})
		})
	}
}

func TestACallerWhoLeavesKeepsTheAnswerItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		defer cancel()
		r := reply(unavailable)
		got := call(ctx, p, copyPlan{after: 22 * ms, reply: r}, copyPlan{after: time.Hour})
		if got.err != nil || got.reply != r || got.took != 50*ms {
			t.Errorf("got %v, %v after %v", got.reply, got.err, got.took)
		}
		checkReply(t, r, true)
		closed(t, p)
	})
}

func TestADeadlineBeforeTheDelayNeedsNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		ctx, cancel := context.WithTimeout(t.Context(), delay)
		defer cancel()
		got := call(ctx, p, copyPlan{after: ms, err: errDown}) // a race would have sent another
		if got.sent != 1 || !errors.Is(got.err, errDown) {
			t.Errorf("%d copies, %v", got.sent, got.err)
		}
	})
}
