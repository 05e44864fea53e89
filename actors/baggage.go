package actors

import (
	"context"
	"encoding/json"
	"maps"
)

// Baggage is what travels along a chain of calls beside arguments: a tenant, a
// user, the context of a trace. Keep it small: every record of the chain
// carries it.
type Baggage map[string]string

type baggageKey struct{}

// WithBaggage returns a context whose calls and tells carry a pair more, and
// so does all that they call in turn. An empty value takes the key away.
func WithBaggage(ctx context.Context, key, value string) context.Context {
	next := maps.Clone(BaggageFrom(ctx))
	if next == nil {
		next = make(Baggage)
	}
	if value == "" {
		delete(next, key)
	} else {
		next[key] = value
	}
	return context.WithValue(ctx, baggageKey{}, next)
}

// BaggageFrom returns what calls made with ctx carry; within a method, what
// came with its request. It must not be changed.
func BaggageFrom(ctx context.Context) Baggage {
	b, _ := ctx.Value(baggageKey{}).(Baggage)
	return b
}

// baggage encodes what calls made with ctx carry.
func (n *Node) baggage(ctx context.Context) []byte {
	b := BaggageFrom(ctx)
	if n.tracer != nil {
		if b = maps.Clone(b); b == nil {
			b = make(Baggage)
		}
		n.tracer.Inject(ctx, b)
	}
	if len(b) == 0 {
		return nil
	}
	text, err := json.Marshal(b)
	if err != nil { // strings always encode
		return nil
	}
	return text
}

// incoming returns the context of a method whose request carried baggage. What
// does not decode is left out: it is not worth a request.
func (n *Node) incoming(ctx context.Context, baggage []byte) context.Context {
	if len(baggage) == 0 {
		return ctx
	}
	var b Baggage
	if json.Unmarshal(baggage, &b) != nil || len(b) == 0 {
		return ctx
	}
	return context.WithValue(ctx, baggageKey{}, b)
}
