package actors

import (
	"context"
	"time"
)

// Timer tells the method to the actor after a time, unless it is stopped, or
// the process ends before: it is cheap, and kept nowhere. What must survive is
// a reminder; see [Method.Remind].
func (m Method[In, Out, A]) Timer(self Self[A], d time.Duration, in In) (stop func() bool) {
	node, ref, baggage := self.node, self.Ref(), self.attempt.Request().Baggage
	t := time.AfterFunc(d, func() {
		node.background(func(ctx context.Context) error { return m.Tell(node.incoming(ctx, baggage), ref, in) })
	})
	return t.Stop
}
