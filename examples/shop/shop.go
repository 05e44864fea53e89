package main

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

//go:embed policies.yaml
var policies []byte

// every is how often the shop looks at its policy file.
const every = 200 * time.Millisecond

// shop is four services, what they call one another with, and their customers.
// (They share a process here, and nothing else: they meet on the network alone.)
type shop struct {
	network  network
	wire     *http.Transport // what all HTTP goes through at last
	file     string          // the policy file
	policies *policyfile.Live
	sight    *sight
	ledger   *ledger

	faults    map[string]*faults              // by whose calls have them
	pipelines map[string]*middleware.Registry // by what they call
	payments  *payments
	customers *customers

	undo []func(context.Context) error // for close, which does the last first
}

// open opens a shop on n, for so many customers a second.
func open(ctx context.Context, n network, rate float64) (*shop, error) {
	s := &shop{network: n, wire: over(n), ledger: newLedger(),
		faults: make(map[string]*faults), pipelines: make(map[string]*middleware.Registry)}
	s.later(func(context.Context) error { s.wire.CloseIdleConnections(); return nil })
	for _, step := range []func(context.Context) error{
		s.look, s.follow, s.openSearch, s.openPayments, s.openInventory, s.openFront,
		func(context.Context) error { return s.invite(rate) },
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// later has f done at the end.
func (s *shop) later(f func(context.Context) error) { s.undo = append(s.undo, f) }

// close ends everything, in the opposite order.
func (s *shop) close() (all error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, f := range slices.Backward(s.undo) {
		all = errors.Join(all, f(ctx))
	}
	return all
}

// look makes what operators look at.
func (s *shop) look(context.Context) (err error) {
	if s.sight, err = newSight(); err == nil {
		s.later(s.sight.close)
	}
	return err
}

// follow writes the policies to a file that may be edited, and follows it.
func (s *shop) follow(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "shop-")
	if err != nil {
		return err
	}
	s.later(func(context.Context) error { return os.RemoveAll(folder) })
	s.file = filepath.Join(folder, "policies.yaml")
	if err := os.WriteFile(s.file, policies, 0o600); err != nil {
		return err
	}
	// It is followed to the end, also when the program has been interrupted.
	s.policies, err = policyfile.Watch(context.WithoutCancel(ctx), s.file,
		policyfile.WithObserver(s.sight), policyfile.WithEvery(every))
	if err != nil {
		return err
	}
	s.later(func(context.Context) error { s.policies.Close(); return nil })
	return nil
}

func (s *shop) openFront(ctx context.Context) (err error) {
	f := new(front)
	// The search answers from memory where it must: an old answer is a good one.
	if f.search, err = s.client("search", httpmw.WithStaleCache(httpmw.StaleCache{})); err != nil {
		return err
	}
	if f.payments, err = s.client("payments"); err != nil {
		return err
	}
	if f.inventory, err = s.connection("inventory", grpcmw.WithReads(stockMethod)); err != nil {
		return err
	}
	return s.serve(ctx, "front", f.routes(), bare, httpmw.ServerPriority(priority))
}

// invite makes the customers, who do not come yet.
func (s *shop) invite(rate float64) error {
	client, err := s.client("front")
	if err != nil {
		return err
	}
	s.customers = &customers{
		client: client, ledger: s.ledger, rate: rate,
		limit: s.policies.Target("front").Deadline.Total,
	}
	return nil
}
