package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/retry"
)

// patient are the settings of all actors here: a kill counts as an attempt, and
// there are more of them in a second than elsewhere in a year.
var patient = actors.Settings{Retry: retry.Config{MaxAttempts: 100}}

// table sees with its own eyes which forks are in whose hands, in this life of
// the process.
type table struct {
	forks sync.Map // actors.Ref[fork]: the name of who eats with it

	mu   sync.Mutex
	seen error
}

// pick notes that a fork is in a hand, and whether it was in another one.
func (t *table) pick(f actors.Ref[fork], who string) {
	other, taken := t.forks.LoadOrStore(f, who)
	if !taken {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = errors.Join(t.seen, fmt.Errorf("%s and %v eat with %v", who, other, f))
}

func (t *table) fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

func work(ctx context.Context, dir string, out io.Writer) (err error) {
	log, err := memory.Open(filepath.Join(dir, "log"), memory.WithPartitions(4), memory.WithoutSync())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var t table
	node, err := actors.Open(ctx, actors.Config{Name: "philosophers"}, log, hostPhilosophers(&t), hostForks())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop(ctx)) }()
	ctx = node.Context(ctx)

	for i := range philosophers {
		left, right := i, (i+1)%philosophers
		at := Place{First: forkAt(min(left, right)), Second: forkAt(max(left, right))}
		if _, err := Sit.Call(ctx, philosopherAt(i), at); err != nil {
			return err
		}
	}
	return t.watch(ctx, out)
}

func philosopherAt(i int) actors.Ref[philosopher] {
	return Philosopher.Ref(fmt.Sprintf("no. %d", i+1))
}

func forkAt(i int) actors.Ref[fork] { return Fork.Ref(fmt.Sprintf("no. %d", i+1)) }

// watch waits until all have eaten enough, and says so.
func (t *table) watch(ctx context.Context, out io.Writer) error {
	for {
		counts := make([]string, philosophers)
		sum := 0
		for i := range philosophers {
			n, err := Eaten.Call(ctx, philosopherAt(i), struct{}{})
			if err != nil {
				return err
			}
			if n > meals {
				return fmt.Errorf("%v has eaten %d times", philosopherAt(i), n)
			}
			counts[i] = fmt.Sprint(n)
			sum += n
		}
		if err := t.fault(); err != nil {
			return err
		}
		if sum == philosophers*meals {
			fmt.Fprintf(out, "  all have eaten: %s times\n", strings.Join(counts, ", "))
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}
