package breaker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/internal/testkit"
)

var errBackend = errors.New("backend failed")

// Ends that a call may come to.
var (
	success   = backstay.Outcome{}
	failure   = backstay.Outcome{Class: backstay.Transient}
	cancelled = backstay.Outcome{Class: backstay.Canceled}
)

// log is an observer that keeps what it is told.
type log struct{ testkit.Recorder }

// of returns the events of a kind.
func (l *log) of(kind backstay.Kind) []backstay.Event { return l.Events(kind) }

// changes returns the changes of state, each as "from>to".
func (l *log) changes() []string {
	var all []string
	for _, e := range l.of(backstay.BreakerChanged) {
		all = append(all, e.From+">"+e.To)
	}
	return all
}

func wantChanges(t *testing.T, l *log, want ...string) {
	t.Helper()
	if got := l.changes(); !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
}

func newBreaker(t *testing.T, c breaker.Config) (*breaker.Breaker, *log) {
	t.Helper()
	l := new(log)
	b, err := breaker.New(c, breaker.WithScope(&backstay.Scope{Policy: "payments", Key: "db", Observer: l}))
	if err != nil {
		t.Fatal(err)
	}
	return b, l
}

// call makes one call that ends in err.
func call(ctx context.Context, b *breaker.Breaker, err error) error {
	_, err = breaker.Do(ctx, b, func(context.Context) (int, error) { return 0, err })
	return err
}

// trip opens b, which must have the rule of two consecutive failures.
func trip(t *testing.T, b *breaker.Breaker) {
	t.Helper()
	for range 2 {
		_ = call(t.Context(), b, errBackend)
	}
	wantState(t, b, breaker.Open)
}

// twoFailures opens after two failures in a row, for a second.
func twoFailures() breaker.Config {
	return breaker.Config{Consecutive: 2, OpenFor: time.Second}
}

func wantState(t *testing.T, b *breaker.Breaker, want breaker.State) {
	t.Helper()
	if got := b.State(); got != want {
		t.Fatalf("state %v, want %v", got, want)
	}
}

func wantRejected(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, breaker.ErrOpen) {
		t.Fatalf("err %v, want a rejection", err)
	}
}

func wantAdmitted(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, breaker.ErrOpen) {
		t.Fatalf("rejected: %v", err)
	}
}

// must is for what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
