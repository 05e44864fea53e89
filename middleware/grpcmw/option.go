package grpcmw

import (
	"time"

	"google.golang.org/grpc/codes"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// Option gives a [Client] a collaborator.
type Option func(*builder)

// builder is what the options collect.
type builder struct {
	client    *Client
	pipelines []middleware.Option
	rungs     []Rung
	inner     func(middleware.Target) Inner // nil: none

	firstAnswer bool // is set
}

// WithObserver tells o of everything that happens; if it is a
// [backstay.Tracer] too, the contexts of calls and attempts come from it.
func WithObserver(o backstay.Observer) Option {
	return func(b *builder) { b.pipelines = append(b.pipelines, middleware.WithObserver(o)) }
}

// WithRetryBudget makes the retries of all keys, and of every Client that is
// given the same budget, spend from b.
func WithRetryBudget(budget *retry.Budget) Option {
	return func(b *builder) { b.pipelines = append(b.pipelines, middleware.WithRetryBudget(budget)) }
}

// WithKey says which pipeline a call goes through: f returns a bounded name.
// The default, also where f is nil or panics, is the endpoint of the connection,
// [Request.Host]; see also [ByService] and [ByMethod].
func WithKey(f func(*Request) string) Option {
	return func(b *builder) { b.client.key = f }
}

// ByService is a [WithKey] that gives every service of an endpoint a pipeline.
func ByService(q *Request) string { return q.Host() + "/" + q.Service() }

// ByMethod is a [WithKey] that gives every method of an endpoint a pipeline.
// Methods must be those of generated code: a proxy that passes on whatever its
// callers name has no bounded number of them.
func ByMethod(q *Request) string { return q.Host() + q.Method }

// WithIdempotent names methods that have the same effect when they are called
// again, and so may be retried: full ones, "/pkg.Service/Method", or all of a
// service, "/pkg.Service/". Methods whose .proto sets idempotency_level to
// NO_SIDE_EFFECTS or IDEMPOTENT need no mention.
func WithIdempotent(names ...string) Option {
	return func(b *builder) { b.client.repeats.idempotent.add(names) }
}

// WithReads names methods that only read, and so may be retried and hedged.
// Methods whose .proto sets idempotency_level to NO_SIDE_EFFECTS need no
// mention.
func WithReads(names ...string) Option {
	return func(b *builder) { b.client.repeats.reads.add(names) }
}

// WithRetryable makes failures with these codes transient, where the call may
// be repeated: codes.Aborted, say, of a server whose transactions collide.
func WithRetryable(all ...codes.Code) Option {
	return func(b *builder) {
		if b.client.retryable == nil {
			b.client.retryable = make(map[codes.Code]bool)
		}
		for _, code := range all {
			b.client.retryable[code] = true
		}
	}
}

// WithFirstAnswer bounds how long a server may take to answer a stream of
// replies for the first time, from when its one request was sent. Past d the
// attempt has failed as one does that reaches its timeout, and the stream is
// opened again where it may be. There is no such limit by default, because many
// streams are silent until something happens. d must be positive.
func WithFirstAnswer(d time.Duration) Option {
	return func(b *builder) { b.client.firstAnswer, b.firstAnswer = d, true }
}

// WithPassThrough names methods that no policy acts on, beside health checks
// and reflection: streams above all whose servers may be silent for long
// before they first answer, since these hold a permit for so long.
func WithPassThrough(names ...string) Option {
	return func(b *builder) { b.client.passed.add(names) }
}

// WithClassifier lets f overrule how an attempt's end is judged: it gets the
// reply with its metadata, nil where there is none, the error, and the
// judgement of [Classify]. It may be called several times for one attempt, by
// several goroutines at once. Where it panics, the judgement of [Classify]
// stands.
func WithClassifier(f func(*Reply, error, backstay.Outcome) backstay.Outcome) Option {
	return func(b *builder) { b.client.classify = f }
}

// WithFallback adds fallbacks for unary calls, best first, below those added
// before; see [Answer].
func WithFallback(rungs ...Rung) Option {
	return func(b *builder) { b.rungs = append(b.rungs, rungs...) }
}

// WithStaleCache adds a fallback that answers with the last good reply.
func WithStaleCache(c StaleCache) Option {
	return func(b *builder) { b.rungs = append(b.rungs, c.rung(b.client)) }
}
