package fallback_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/internal/testkit"
)

var errDown = errors.New("backend down")

// ask is the request of a small protocol, reply its answer. Like an HTTP
// response, a reply may say that it failed, and must be discarded if unused.
type ask struct {
	key   string
	write bool
	fork  int
}

type reply struct {
	status    int
	text      string
	discarded int
}

// protocol is the Exchange of ask and reply.
type protocol struct{}

func (protocol) Repeat(q ask, _ backstay.Outcome) error {
	if q.write {
		return errors.New("a write must not be repeated")
	}
	return nil
}

func (protocol) Fork(q ask, attempt int) (ask, error) {
	q.fork = attempt
	return q, nil
}

func (protocol) Classify(r *reply, err error) backstay.Outcome {
	switch {
	case err != nil:
		return backstay.Classify(err)
	case r.status == 503:
		return backstay.Outcome{Class: backstay.Overload, RetryAfter: 5 * time.Second}
	case r.status >= 500:
		return backstay.Outcome{Class: backstay.Transient}
	case r.status >= 400:
		return backstay.Outcome{Class: backstay.Permanent}
	}
	return backstay.Outcome{}
}

func (protocol) Bind(r *reply, c backstay.Canceler) *reply {
	c.Cancel()
	return r
}

func (protocol) Discard(r *reply) { r.discarded++ }

var rung fallback.For[ask, *reply]

// always is a backend that gives one answer.
func always(r *reply, err error) backstay.Call[ask, *reply] {
	return func(context.Context, ask) (*reply, error) { return r, err }
}

func run(ctx context.Context, l *fallback.Ladder[ask, *reply], q ask, next backstay.Call[ask, *reply]) (*reply, error) {
	return fallback.Run(ctx, l, protocol{}, q, next)
}

// same reports whether got is the very error wanted, not even wrapped.
func same(got, want any) bool { return got == want }

// must makes a ladder.
func must[Q, R any](tb testing.TB, c fallback.Config, rungs []fallback.Rung[Q, R], opts ...fallback.Option) *fallback.Ladder[Q, R] {
	tb.Helper()
	l, err := fallback.New(c, rungs, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// diary is an observer that remembers.
type diary struct{ testkit.Recorder }

// of returns the events of one kind.
func (d *diary) of(k backstay.Kind) []backstay.Event { return d.Events(k) }

// watched is the option that names a ladder "prices" and tells a diary.
func watched() (*diary, fallback.Option) {
	d := new(diary)
	return d, fallback.WithScope(&backstay.Scope{Policy: "prices", Observer: d})
}
