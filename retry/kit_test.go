package retry_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/retry"
)

var errDown = errors.New("backend down")

// policy makes a policy or ends the test.
func policy(tb testing.TB, c retry.Config, options ...retry.Option) *retry.Policy {
	tb.Helper()
	p, err := retry.New(c, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// budget makes a budget or ends the test.
func budget(tb testing.TB, c retry.BudgetConfig) *retry.Budget {
	tb.Helper()
	b, err := retry.NewBudget(c)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// same reports whether got is want itself and not an error around it.
func same(got, want error) bool {
	return got == want //nolint:errorlint // that is the question
}

// failing returns a function that fails with errs, one after the other, and
// then succeeds with the number of the call.
func failing(errs ...error) func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) {
		n++
		if n <= len(errs) {
			return 0, errs[n-1]
		}
		return n, nil
	}
}

// always returns a function that fails with err and counts its calls.
func always(err error, calls *int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		*calls++
		return 0, err
	}
}

// answer is what the backend of a [protocol] says.
type answer struct {
	backstay.Outcome
	discarded atomic.Bool
}

// protocol is an Exchange of numbered requests and answers, such as HTTP: a
// failure may be an answer and no error. It writes down what is asked of it.
type protocol struct {
	unrepeatable error
	fork         error
	trace        []string
}

func (x *protocol) Repeat(q int, o backstay.Outcome) error {
	x.trace = append(x.trace, fmt.Sprint("repeat ", q))
	if o.Unsent {
		return nil
	}
	return x.unrepeatable
}

func (x *protocol) Fork(q, attempt int) (int, error) {
	x.trace = append(x.trace, fmt.Sprint("fork ", q, " ", attempt))
	return q + attempt, x.fork
}

func (x *protocol) Classify(r *answer, err error) backstay.Outcome {
	if err != nil {
		return backstay.Classify(err)
	}
	return r.Outcome
}

func (x *protocol) Bind(r *answer, c backstay.Canceler) *answer {
	c.Cancel()
	return r
}

func (x *protocol) Discard(r *answer) {
	x.trace = append(x.trace, "discard")
	if r != nil {
		r.discarded.Store(true)
	}
}

// unavailable is a retryable answer.
func unavailable() *answer { return &answer{Outcome: backstay.Outcome{Class: backstay.Transient}} }

// told remembers events.
type told struct{ testkit.Recorder }

// waits returns the waits of the retries that were planned.
func (o *told) waits() (all []time.Duration) {
	for _, e := range o.Events(backstay.RetryPlanned) {
		all = append(all, e.Wait)
	}
	return all
}

// observed returns an option that tells o.
func observed(o backstay.Observer) retry.Option {
	return retry.WithScope(&backstay.Scope{Policy: "payments", Observer: o})
}
