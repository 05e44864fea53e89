package deadline

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

const (
	// forever stands for the absence of a bound.
	forever = time.Duration(math.MaxInt64)
	// longAgo is the furthest that a deadline can have passed, so that time in
	// the queue can still be subtracted.
	longAgo = -forever / 2
)

// HeaderError says that a header was ignored, and why.
type HeaderError struct {
	// Header is its name.
	Header string
	// Err says what was found and what is allowed.
	Err error
}

// Error names the header and the fault.
func (e *HeaderError) Error() string {
	return fmt.Sprintf("deadline: header %s is ignored: %v", e.Header, e.Err)
}

// Unwrap returns the fault.
func (e *HeaderError) Unwrap() error { return e.Err }

// Taken is what [Incoming.Decide] makes of a request.
type Taken struct {
	// Left is what the request may still take; zero or less where its deadline
	// has passed, the longest duration where nothing bounds it.
	Left time.Duration
	// Header names the header that decided; empty where a limit of our own is
	// earlier.
	Header string
	// Late is true where the request must be refused: its deadline has passed,
	// or Left is less than the minimum.
	Late bool
	// Ignored are the headers that were not usable.
	Ignored []*HeaderError
}

// Decide is the decision: what a request may take that waited for queued before
// now, and has limit left by its own context (the longest duration if that has
// no deadline). Headers never extend limit or the cap; those that are not
// usable are left out.
func (in *Incoming) Decide(c Carrier, limit, queued time.Duration, now time.Time) Taken {
	t := Taken{Left: limit}
	if in.config.Cap != NoCap {
		t.Left = min(t.Left, in.config.Cap-queued)
	}
	for _, codec := range in.codecs {
		t.read(codec, c, queued, now)
	}
	t.Late = t.Left <= 0 || t.Left < in.config.Minimum
	return t
}

// read takes the values of one header into account. However many of them are
// unusable, one is reported: their number is the sender's choice.
func (t *Taken) read(codec Codec, c Carrier, queued time.Duration, now time.Time) {
	name, ignored := codec.Name(), false
	for _, value := range c.Values(name) {
		left, err := codec.Decode(value, now)
		if err != nil {
			if !ignored {
				ignored = true
				t.Ignored = append(t.Ignored, &HeaderError{Header: name, Err: err})
			}
			continue
		}
		if left = max(left, longAgo) - queued; left < t.Left {
			t.Left, t.Header = left, name
		}
	}
}

// Extract takes up the deadline that c carries. The context it returns ends
// with ctx, and at the earliest of that deadline, the cap of in, and the
// deadline of ctx itself. The two former count from arrived, which is when the
// request came in, so that a wait in the server's own queue is not lost; 0
// means that it came just now.
//
// A request whose time has passed, or is less than the minimum, is refused with
// a [TooLateError]; one whose context is canceled gets the context's error.
// Either way its handler must not run. Call cancel on every path.
func Extract(ctx context.Context, c Carrier, in *Incoming, arrived backstay.Instant) (_ context.Context, cancel context.CancelFunc, err error) {
	if in == nil {
		return ctx, func() {}, nil
	}
	began := backstay.Now()
	var queued time.Duration
	if arrived != 0 {
		queued = max(began.Sub(arrived), 0)
	}
	limit := forever
	if end, ok := ctx.Deadline(); ok {
		limit = began.Until(end)
	}
	t := in.Decide(c, limit, queued, time.Now())
	in.tellIgnored(ctx, t.Ignored)
	if ctx.Err() != nil && !t.Late {
		return ctx, func() {}, backstay.ContextError(ctx)
	}
	if t.Late {
		return ctx, func() {}, in.refuse(ctx, t.Left)
	}
	if t.Left == limit {
		return ctx, func() {}, nil
	}
	bounded := lazyctx.New(ctx, began.Add(t.Left))
	return bounded, bounded.Cancel, nil
}

func (in *Incoming) tellIgnored(ctx context.Context, all []*HeaderError) {
	for _, e := range all {
		in.scope.Emit(ctx, backstay.Event{
			Kind: backstay.HeaderIgnored, Reason: backstay.Reason(e.Header), Err: e,
		})
	}
}

// refuse returns the error of a request that has left left, and tells of it.
func (in *Incoming) refuse(ctx context.Context, left time.Duration) error {
	err := &TooLateError{Name: in.scope.Name(), Remaining: left, Need: in.config.Minimum}
	in.scope.Emit(ctx, backstay.Event{
		Kind: backstay.CallRejected, Reason: backstay.ReasonTooLate, Err: err, Outcome: err.Outcome(),
	})
	return err
}
