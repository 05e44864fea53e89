package idempotencytest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// long is a lease that does not pass while a case runs.
const long = time.Minute

// bench is what a case works on: a store, and short ways to ask it.
type bench struct {
	*testing.T
	Options
	store idempotency.Store
}

// two different requests.
var (
	printA = idempotency.FingerprintOf("POST", "/charges", "a")
	printB = idempotency.FingerprintOf("POST", "/charges", "b")
)

// owner makes a new owner of key.
func owner(key string) idempotency.Claim {
	c := idempotency.Claim{Key: key}
	_, _ = rand.Read(c.Owner[:])
	return c
}

// fresh makes an owner of a key that nobody has used.
func fresh() idempotency.Claim { return owner(idempotency.NewKey()) }

// begin asks for a key and wants state.
func (b *bench) begin(c idempotency.Claim, f idempotency.Fingerprint, lease time.Duration, want idempotency.State) idempotency.Result {
	b.Helper()
	got, err := b.store.Begin(b.Context(), c, f, lease)
	if err != nil {
		b.Fatalf("Begin: %v, want %v", err, want)
	}
	if got.State != want {
		b.Fatalf("Begin: %v, want %v", got.State, want)
	}
	return got
}

// started makes a new owner of a key that was free.
func (b *bench) started(lease time.Duration) idempotency.Claim {
	b.Helper()
	c := fresh()
	b.begin(c, printA, lease, idempotency.Started)
	return c
}

// completed makes a key whose work was done, with answer.
func (b *bench) completed(answer string, retention time.Duration) idempotency.Claim {
	b.Helper()
	c := b.started(long)
	b.complete(c, answer, retention)
	return c
}

func (b *bench) complete(c idempotency.Claim, answer string, retention time.Duration) {
	b.Helper()
	if err := b.store.Complete(b.Context(), c, idempotency.Record{Answer: []byte(answer)}, retention); err != nil {
		b.Fatalf("Complete: %v", err)
	}
}

func (b *bench) renew(c idempotency.Claim, lease time.Duration) {
	b.Helper()
	if err := b.store.Renew(b.Context(), c, lease); err != nil {
		b.Fatalf("Renew: %v", err)
	}
}

func (b *bench) release(c idempotency.Claim) {
	b.Helper()
	if err := b.store.Release(b.Context(), c); err != nil {
		b.Fatalf("Release: %v", err)
	}
}

// isNotOwner wants every step of an owner to be refused for c.
func (b *bench) isNotOwner(c idempotency.Claim) {
	b.Helper()
	for step, err := range map[string]error{
		"Renew":    b.store.Renew(b.Context(), c, long),
		"Complete": b.store.Complete(b.Context(), c, idempotency.Record{Answer: []byte("stale")}, long),
		"Release":  b.store.Release(b.Context(), c),
	} {
		if !errors.Is(err, idempotency.ErrLeaseLost) {
			b.Errorf("%s by one who does not own the key: %v, want ErrLeaseLost", step, err)
		}
	}
}

// replays wants a repetition to get answer.
func (b *bench) replays(key, answer string) {
	b.Helper()
	got := b.begin(owner(key), printA, long, idempotency.Completed).Record
	if got.Omitted || !bytes.Equal(got.Answer, []byte(answer)) {
		b.Fatalf("replayed %.60q (omitted: %t), want %.60q", got.Answer, got.Omitted, answer)
	}
}

// isFree wants that anybody can begin with key, whatever for, and begins.
func (b *bench) isFree(key string) {
	b.Helper()
	b.begin(owner(key), printB, long, idempotency.Started)
}

// passes lets a lease or retention of d, asked for just now, come to its end.
func (b *bench) passes(d time.Duration) { b.Advance(d + d/4) }

// together runs f on n goroutines that start at the same moment, and waits.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	all.Wait()
}
