package retry_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// answers is an exchange whose answers must be freed: every one is judged
// transient.
type answers struct {
	backstay.Plain[int]
	freed *int
}

func (answers) Classify(int, error) backstay.Outcome {
	return backstay.Outcome{Class: backstay.Transient}
}
func (x answers) Discard(int) { *x.freed++ }

// unwinding is a backoff series that unwinds at its second wait.
type unwinding struct {
	n  int
	by func()
}

func (*unwinding) Reset() {}

func (u *unwinding) NextBackOff() (wait time.Duration) {
	if u.n++; u.n == 2 {
		u.by()
	}
	return wait
}

func TestAnAnswerInHandIsFreedWhereABackOffUnwinds(t *testing.T) {
	for name, by := range map[string]func(){"a panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
		freed, made := 0, 0
		p := policy(t, retry.Config{}, retry.WithBackOff(func() backoff.BackOff { return &unwinding{by: by} }))
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			_, _ = retry.Run(context.Background(), p, answers{freed: &freed}, struct{}{}, func(context.Context, struct{}) (int, error) {
				made++
				return made, nil
			})
		}()
		<-done
		if made != 2 || freed != 2 {
			t.Errorf("%s: %d answers, %d freed", name, made, freed)
		}
	}
}
