package slogmw

import (
	"context"
	"log/slog"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// Observer logs events. It is safe for concurrent use.
type Observer struct {
	log   *slog.Logger
	level func(backstay.Event) slog.Level
}

// Option changes what an [Observer] does.
type Option func(*Observer)

// WithLevel decides the level of each event in place of [Level]. It may be
// called by several goroutines at once.
func WithLevel(f func(backstay.Event) slog.Level) Option {
	return func(o *Observer) { o.level = f }
}

// New returns an Observer that logs to log; nil means slog.Default().
func New(log *slog.Logger, options ...Option) *Observer {
	if log == nil {
		log = slog.Default()
	}
	o := &Observer{log: log, level: Level}
	for _, option := range options {
		option(o)
	}
	return o
}

// Level is the default level of an event: see the package's documentation.
func Level(e backstay.Event) slog.Level {
	switch e.Kind {
	case backstay.CallDone:
		if e.Outcome.Class.Failure() {
			return slog.LevelWarn
		}
	case backstay.BreakerChanged, backstay.CallbackPanicked,
		idempotency.LeaseLost, idempotency.AnswerNotKept, idempotency.KeyNotFreed,
		idempotency.StoreFailed, idempotency.LetThrough,
		middleware.HandlerTimedOut, middleware.PolicyNotApplied, middleware.PolicyRemoved,
		backstay.PartitionRefused, backstay.RequestGivenUp, backstay.SnapshotFailed,
		backstay.LogFailed, backstay.PassivationFailed:
		return slog.LevelWarn
	case middleware.PoliciesRefused, middleware.HandlerPanicked, backstay.OutputLost, backstay.RecordSkipped:
		return slog.LevelError
	case backstay.OutboxCongested, backstay.PartitionLost:
		if e.Err != nil {
			return slog.LevelWarn
		}
		return slog.LevelInfo // it is over, or was handed over
	case backstay.RetryPlanned, backstay.RetrySuppressed, backstay.CallRejected,
		backstay.FallbackUsed, backstay.HeaderIgnored, backstay.FaultInjected, idempotency.KeyReplayed,
		middleware.PoliciesLoaded, middleware.PolicyAdded, middleware.PolicyChanged,
		backstay.StepFailed, backstay.PartitionOwned:
		return slog.LevelInfo
	default: // what goes well, and parts of what is told elsewhere
	}
	return slog.LevelDebug
}

// Observe logs e.
func (o *Observer) Observe(ctx context.Context, e backstay.Event) {
	if level := o.level(e); o.log.Enabled(ctx, level) {
		o.log.LogAttrs(ctx, level, string(e.Kind), Attrs(e)...)
	}
}
