package idempotency

import (
	"context"
	"strconv"
	"sync"
)

type incomingKey struct{}

// incoming is the key that work was asked for with, in the context of the work.
type incoming struct {
	key   string
	claim string // the key within its scope: two tenants may send the same one
	guard string // its name: two services may share a store

	mu    sync.Mutex
	calls map[string]int // how many keys were made for each kind of call
}

func (t *tenure) newIncoming() *incoming {
	return &incoming{key: t.request.Key, claim: t.hold.Key, guard: t.guard.scope.Name()}
}

// IncomingKey returns the key that the work which runs with ctx was asked for
// with, if a [Guard] runs it; otherwise it is empty. It is not sent along with
// outgoing calls, since each of those needs a key of its own:
//
//	ctx = idempotency.WithKey(ctx, idempotency.Derive(idempotency.IncomingKey(ctx), "charge"))
func IncomingKey(ctx context.Context) string {
	if in := incomingOf(ctx); in != nil {
		return in.key
	}
	return ""
}

func incomingOf(ctx context.Context) *incoming {
	in, _ := ctx.Value(incomingKey{}).(*incoming)
	return in
}

// next makes the key of the next call of a kind: the first of each kind has the
// same key whenever the work runs, and so has the second.
func (in *incoming) next(kind []string) string {
	base := Derive(Derive(in.claim, in.guard), kind...)
	in.mu.Lock()
	if in.calls == nil {
		in.calls = make(map[string]int)
	}
	in.calls[base]++
	n := in.calls[base]
	in.mu.Unlock()
	return Derive(base, strconv.Itoa(n))
}
