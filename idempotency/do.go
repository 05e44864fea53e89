package idempotency

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay"
)

// Do is [Guard.Run] for functions that return a value: work in a consumer of
// messages, where a message may be delivered more than once. The value is kept
// as JSON, or in the form of [WithCodec]; the call that does the work gets
// what f returned, later ones get a decoded copy and true.
//
//	_, _, err := idempotency.Do(ctx, guard, idempotency.Request{
//		Key: message.ID, Scope: []string{"orders"},
//	}, func(ctx context.Context) (struct{}, error) { return struct{}{}, ship(ctx, order) })
//
// An identifier that is no valid key, because it is binary or very long, becomes one
// by [Derive]. A consumer that must stop at once when its context is cancelled
// sets Grace to [NoGrace].
//
// If the value cannot be encoded, Do returns it together with an error; the
// key then remembers that the work was done, and refuses repetitions with
// [ErrAnswerNotKept].
func Do[T any](ctx context.Context, g *Guard, r Request, f func(context.Context) (T, error)) (T, bool, error) {
	if !g.Guards(r) {
		v, err := f(ctx)
		return v, false, err
	}
	var v T
	var fault error
	answer, replayed, err := g.Run(ctx, r, func(ctx context.Context) (Answer, error) {
		var err error
		if v, err = f(ctx); err != nil {
			return Answer{}, err
		}
		var answer Answer
		answer, fault = encode(g.codec, v)
		return answer, nil
	})
	if !replayed {
		if err == nil {
			err = fault
		}
		return v, false, err
	}
	if err := g.codec.Unmarshal(answer.Data, &v); err != nil {
		return v, true, codecFault("the answer that was kept cannot be decoded", err)
	}
	return v, true, nil
}

// encode makes the answer of work that was done. A codec that fails, or
// panics, must not make it undone: the answer is then only a mark.
func encode(c Codec, v any) (a Answer, fault error) {
	defer func() {
		if p := recover(); p != nil {
			a, fault = Answer{Keep: KeepMark}, codecFault("the codec panicked on an answer", fmt.Errorf("%v", p))
		}
	}()
	data, err := c.Marshal(v)
	if err != nil {
		return Answer{Keep: KeepMark}, codecFault("the work was done, but its answer cannot be encoded", err)
	}
	return Answer{Data: data}, nil
}

// codecFault is an error that another try will not mend.
func codecFault(what string, err error) error {
	return backstay.Mark(fmt.Errorf("idempotency: %s: %w", what, err), backstay.Outcome{Class: backstay.Fault})
}
