package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

const (
	accounts  = 12
	opening   = 10_000 // cents in each
	transfers = 4000
	clients   = 8
)

// tally is what clients were told.
type tally struct {
	mu                       sync.Mutex
	moved, returned, refused int
}

func work(ctx context.Context, dir string, out io.Writer) (err error) {
	log, err := memory.Open(filepath.Join(dir, "log"), memory.WithPartitions(4), memory.WithoutSync())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	node, err := actors.Open(ctx, actors.Config{Name: "bank"}, log, host())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop(ctx)) }()
	ctx = node.Context(ctx)

	for i := range accounts {
		if _, err := Open.Call(ctx, at(i), opening); err != nil {
			return err
		}
	}
	var t tally
	if err := t.transferAll(ctx); err != nil {
		return err
	}
	return t.report(ctx, out)
}

// at is the i-th account; the one behind the last was never opened.
func at(i int) actors.Ref[account] { return Account.Ref(fmt.Sprintf("no. %d", i+1)) }

// transferAll asks for every transfer, those of earlier lives of this process
// as well: the key makes them one, and fetches the first answer.
func (t *tally) transferAll(ctx context.Context) error {
	var group sync.WaitGroup
	failures := make(chan error, clients)
	for c := range clients {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(c))) //nolint:gosec // the same orders in every life
			for i := range transfers / clients {
				from, order := at(r.IntN(accounts)), Transfer{To: at(r.IntN(accounts + 1)), Cents: r.IntN(3000)}
				receipt, err := Send.Call(ctx, from, order, actors.IdempotencyKey(fmt.Sprintf("client %d, order %d", c, i)))
				if err := t.count(receipt, err); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}

func (t *tally) count(r Receipt, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, ErrNoFunds):
		t.refused++
	case err != nil:
		return err
	case r.Returned:
		t.returned++
	default:
		t.moved++
	}
	return nil
}

func (t *tally) report(ctx context.Context, out io.Writer) error {
	sum := 0
	for i := range accounts {
		have, err := Balance.Call(ctx, at(i), struct{}{})
		if err != nil {
			return err
		}
		if have < 0 {
			return fmt.Errorf("account %v is overdrawn: %d", at(i), have)
		}
		sum += have
	}
	fmt.Fprintf(out, "  %d arrived, %d came back from an account that does not exist, %d were refused for lack of money\n", t.moved, t.returned, t.refused)
	fmt.Fprintf(out, "  in all accounts together: %d cents, of %d at the beginning\n", sum, accounts*opening)
	if sum != accounts*opening {
		return errors.New("money was lost or made")
	}
	return nil
}
