// Package idempotencytest is the conformance suite for implementations of
// idempotency.Store. A store that passes it keeps what a Guard promises.
//
//	func TestStore(t *testing.T) {
//		idempotencytest.Run(t, openStore, idempotencytest.Options{})
//	}
//
// The suite runs in real time against a server, and takes no time at all for a
// store that lives in memory, if each case is run in a bubble:
//
//	idempotencytest.Run(t, openStore, idempotencytest.Options{Each: synctest.Test})
//
// Every case uses keys of its own, so that all cases may share one database.
package idempotencytest

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// Options adapts the suite to a store. The zero value is right for a server in
// real time.
type Options struct {
	// Each runs one case; synctest.Test is one such function. Default: the
	// case is called as it is.
	Each func(t *testing.T, one func(*testing.T))
	// Advance lets time pass for the store. Default: time.Sleep, which is
	// right in a bubble, too.
	Advance func(d time.Duration)
	// Lease is the lease, and the retention, of cases that wait for its end.
	// It must be long enough for a few commands and a stall of the machine.
	// Default: 500 ms.
	Lease time.Duration
	// Goroutines is how many contend for one key. Default: 100.
	Goroutines int
	// Full opens a store that has room for the given number of keys. If nil,
	// the store is taken to have no bounds, and the cases about them are
	// skipped.
	Full func(t *testing.T, keys int) idempotency.Store
}

// Run runs the suite against stores that open returns. open is called once for
// each case and may return the same store every time; it closes what it opened
// by t.Cleanup.
func Run(t *testing.T, open func(*testing.T) idempotency.Store, o Options) {
	if o.Each == nil {
		o.Each = func(t *testing.T, one func(*testing.T)) { one(t) }
	}
	if o.Advance == nil {
		o.Advance = time.Sleep
	}
	if o.Lease == 0 {
		o.Lease = 500 * time.Millisecond
	}
	if o.Goroutines == 0 {
		o.Goroutines = 100
	}
	for _, group := range [][]testCase{ownership, expiry, records, contexts, concurrency, waiting, bounds, guarded} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				o.Each(t, func(t *testing.T) { c.run(&bench{T: t, Options: o, store: open(t)}) })
			})
		}
	}
}

// testCase is one sentence about stores, and its proof.
type testCase struct {
	name string
	run  func(*bench)
}
