package middleware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/timeout"
)

// Admission is what a [Server] describes, made ready: it decides which requests
// reach a handler, and under which context. It does not change: a request goes
// by one Admission to its end, and an [Entrance] has the one in force. It is for
// protocols, which translate: see middleware/httpmw and middleware/grpcmw. It is
// safe for concurrent use.
type Admission struct {
	server   Server
	scope    *backstay.Scope
	incoming *deadline.Incoming
	uncapped *deadline.Incoming // the same for streams
	minimum  time.Duration      // what a handler must have left
	timeout  *timeout.Policy
	bulkhead *bulkhead.Bulkhead
	guard    *idempotency.Guard
	nested   bool

	keyHeader      string
	priorityHeader string
}

// NewAdmission returns the Admission of s, or every fault of its configuration.
// store is where the idempotency keys are kept: one for all the processes of a
// service, nil where s has no such section. o is told of refusals, replays and
// headers that are not usable; nil tells nobody.
func NewAdmission(s Server, store idempotency.Store, o backstay.Observer) (*Admission, error) {
	return newAdmission(s, store, &Admission{scope: &backstay.Scope{Policy: s.Name, Observer: o}})
}

// newAdmission returns the Admission of s, which has the policies of was whose
// sections are the same.
func newAdmission(s Server, store idempotency.Store, was *Admission) (*Admission, error) {
	err := backstay.Check(backstay.Setting{
		Path: "idempotency.store", Value: "none", Valid: s.Idempotency == nil || store != nil,
		Allowed: "must be given: pass ServerStore to the constructor",
	})
	if err := errors.Join(s.Validate(), s.under(err)); err != nil {
		return nil, backstay.Under("middleware", err)
	}
	a := &Admission{
		server:         s,
		scope:          was.scope,
		nested:         s.RetryNested,
		keyHeader:      http.CanonicalHeaderKey(cmp.Or(s.KeyHeader, idempotency.DefaultHeader)),
		priorityHeader: http.CanonicalHeaderKey(s.PriorityHeader),
	}
	return a, errors.Join(a.bound(was), a.protect(store, was))
}

// bound makes what bounds requests in time.
func (a *Admission) bound(was *Admission) (err error) {
	switch s := a.server; s.Timeout {
	case 0:
	case was.server.Timeout:
		a.timeout = was.timeout
	default:
		a.timeout, err = timeout.New(timeout.Config{After: s.Timeout, Abandon: true}, timeout.WithScope(a.scope))
	}
	if a.server.Deadline == nil || err != nil {
		return err
	}
	c := *a.server.Deadline
	a.minimum = c.Minimum
	if a.incoming, err = deadline.NewIncoming(c, a.scope); err != nil {
		return err
	}
	c.Cap = deadline.NoCap
	a.uncapped, err = deadline.NewIncoming(c, a.scope)
	return err
}

// protect makes what bounds the number of requests, and of their effects.
func (a *Admission) protect(store idempotency.Store, was *Admission) error {
	now, had := a.server, was.server
	return errors.Join(
		make1(&a.bulkhead, now.Bulkhead, was.bulkhead, had.Bulkhead, func(c bulkhead.Config) (*bulkhead.Bulkhead, error) {
			return bulkhead.New(c, bulkhead.WithScope(a.scope))
		}),
		make1(&a.guard, now.guards(), was.guard, had.guards(), func(c idempotency.GuardConfig) (*idempotency.Guard, error) {
			return idempotency.NewGuard(c, store, idempotency.WithScope(a.scope))
		}),
	)
}

// Scope returns on whose behalf the Admission acts, for what a protocol has to
// tell beside it.
func (a *Admission) Scope() *backstay.Scope { return a.scope }

// Bulkhead returns the bulkhead; nil if there is none.
func (a *Admission) Bulkhead() *bulkhead.Bulkhead { return a.bulkhead }

// Guard returns what does keyed work once; nil if there is none.
func (a *Admission) Guard() *idempotency.Guard { return a.guard }

// LeavesHandlers reports whether a handler may go on when its request has been
// answered.
func (a *Admission) LeavesHandlers() bool { return a.timeout != nil }

// Close waits for handlers that have outlasted their timeout, or until ctx
// ends; then the error matches the cause of its end. From then on handlers are
// waited for by their own requests. Close may be called again.
func (a *Admission) Close(ctx context.Context) error {
	if err := a.timeout.Close(ctx); err != nil {
		return fmt.Errorf("middleware: %s closed while %d handlers still run: %w", a.scope.Name(), a.timeout.Late(), err)
	}
	return nil
}

// HandlerTimedOut says that a handler had not begun its answer by its timeout,
// and was answered for: Err, Elapsed.
const HandlerTimedOut backstay.Kind = "handler timed out"

// Arrival is what a protocol knows of a request before its handler runs.
type Arrival struct {
	// Header is where its deadline and its priority are told.
	Header deadline.Carrier
	// Attempt is which attempt of the caller's it is, from 1.
	Attempt int
	// Stream is true where the request is known to be one, so that neither cap
	// nor timeout bounds it.
	Stream bool
	// Priority is what counts where Ranked is true, whatever the header says.
	Priority bulkhead.Priority
	Ranked   bool
	// Limits, if not nil, is told what bounds the request, so that the protocol
	// can take it off.
	Limits *Limits
}

// Admit sends q to next if it may reach a handler now, in this order: a
// deadline is taken up, or has passed; what must not be retried below is
// marked; a permit is taken, or there is none. The time in the queue counts
// against the deadline. The error is then a [deadline.TooLateError], a
// [bulkhead.FullError], or that of ctx; or with a timeout a [timeout.Error],
// while next may still run. The permit comes back when next returns, panics or
// exits its goroutine.
//
// next escapes, and should be one long-lived function. x needs Classify alone,
// for limits that adapt; of an answer that came after the timeout, Discard.
func Admit[Q, R any](ctx context.Context, a *Admission, in Arrival, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	ctx, cancel, err := a.enter(ctx, in)
	defer cancel()
	if err != nil {
		var none R
		return none, err
	}
	if a.timeout == nil || in.Stream {
		return shed(ctx, a, x, q, next)
	}
	r, err := timeout.Abandon(ctx, a.timeout, x, q, func(ctx context.Context, q Q) (R, error) {
		return shed(ctx, a, x, q, func(ctx context.Context, q Q) (R, error) {
			return timeout.Run(ctx, a.timeout, x, q, func(ctx context.Context, q Q) (R, error) {
				in.Limits.add(ctx)
				return next(ctx, q)
			})
		})
	})
	if late, ok := errors.AsType[*timeout.Error](err); ok {
		a.scope.Emit(ctx, backstay.Event{Kind: HandlerTimedOut, Err: err, Outcome: late.Outcome(), Elapsed: late.After})
	}
	return r, err
}

// shed calls next under a permit, if there is one and time is left for it.
func shed[Q, R any](ctx context.Context, a *Admission, x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	var began backstay.Instant // set by a wait
	return bulkhead.RunAt(ctx, &began, a.bulkhead, x, q, func(ctx context.Context, q Q) (R, error) {
		if began != 0 && a.minimum > 0 {
			if err := a.late(ctx); err != nil {
				var none R
				return none, err
			}
		}
		return next(ctx, q)
	})
}
