package grpcmw

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay"
)

// keyOf returns the key of the pipeline that q goes through. Where the function
// of [WithKey] panics, that is told, and the endpoint serves.
func (c *Client) keyOf(ctx context.Context, q *Request) string {
	if c.key == nil {
		return q.Host()
	}
	return c.askKey(ctx, q)
}

func (c *Client) askKey(ctx context.Context, q *Request) (key string) {
	defer func() {
		if v := recover(); v != nil {
			c.callbackPanicked(ctx, "the function of WithKey", v)
			key = q.Host()
		}
	}()
	return c.key(q)
}

// overrule asks the function of [WithClassifier] for its judgement. Where that
// panics, it is told, and o stands. Where it exits the goroutine, r reaches
// nobody who would end its stream.
func (x *exchange) overrule(r *Reply, err error, o backstay.Outcome) (judged backstay.Outcome) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			x.c.callbackPanicked(context.Background(), "the function of WithClassifier", v)
			judged = o
		} else if !returned {
			x.Discard(r)
		}
	}()
	judged = x.c.classify(r, err, o)
	returned = true
	return judged
}

// callbackPanicked tells of a callback that panicked.
func (c *Client) callbackPanicked(ctx context.Context, who string, v any) {
	c.pipelines.Scope().Emit(ctx, backstay.Event{
		Kind: backstay.CallbackPanicked, Err: fmt.Errorf("grpcmw: %s panicked: %v", who, v),
	})
}
