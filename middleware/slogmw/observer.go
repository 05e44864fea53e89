// Package slogmw tells a log/slog logger what happens to calls: it is an
// observer for the policies, a pipeline, or a transport.
//
//	transport, err := httpmw.NewTransport(nil, middleware.Standard("payments"),
//		httpmw.WithObserver(slogmw.New(slog.Default())))
//
// What goes well is logged at Debug, what was mended or refused at Info, and
// what somebody may have to look at, such as an open breaker or a call that
// failed in the end, at Warn; [WithLevel] decides otherwise. An event whose
// level the logger does not take costs no more than the question.
//
// The record's message is the event's kind ("retry planned"); its attributes
// are the fields that the event has, under the names that metrics use, without
// the namespace: policy, key, attempt, outcome, reason, wait, elapsed, error.
//
// Not for traces and metrics.
package slogmw

import (
	"context"
	"log/slog"

	"github.com/backstay-go/backstay"
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

// Level is the default level of an event.
func Level(e backstay.Event) slog.Level {
	switch e.Kind {
	case backstay.CallDone:
		if e.Outcome.Class.Failure() {
			return slog.LevelWarn
		}
	case backstay.BreakerChanged, backstay.CallbackPanicked:
		return slog.LevelWarn
	case backstay.RetryPlanned, backstay.RetrySuppressed, backstay.CallRejected,
		backstay.FallbackUsed, backstay.HeaderIgnored:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// Observe logs e.
func (o *Observer) Observe(ctx context.Context, e backstay.Event) {
	level := o.level(e)
	if !o.log.Enabled(ctx, level) {
		return
	}
	o.log.LogAttrs(ctx, level, string(e.Kind), Attrs(e)...)
}

// Attrs returns the attributes of e: one for each field that is set.
func Attrs(e backstay.Event) []slog.Attr {
	attrs := make([]slog.Attr, 0, 8)
	add := func(set bool, name string, value any) {
		if set {
			attrs = append(attrs, slog.Any(name, value))
		}
	}
	judged := e.Kind == backstay.CallDone || e.Kind == backstay.AttemptDone || e.Outcome.Class != backstay.Success
	add(e.Policy != "", "policy", e.Policy)
	add(e.Key != "", "key", e.Key)
	add(e.Operation != "", "operation", e.Operation)
	add(e.Attempt > 0, "attempt", e.Attempt)
	add(e.Copy > 0, "copy", e.Copy)
	add(judged, "outcome", e.Outcome.Class.String())
	add(e.Reason != "", "reason", string(e.Reason))
	add(e.Rung != "", "rung", e.Rung)
	add(e.From != "", "from", e.From)
	add(e.To != "", "to", e.To)
	add(e.Limit != 0, "limit", e.Limit)
	add(e.Wait != 0, "wait", e.Wait)
	add(e.Elapsed != 0, "elapsed", e.Elapsed)
	add(e.Err != nil, "error", e.Err)
	return attrs
}
