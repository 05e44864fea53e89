package slogmw

import (
	"log/slog"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// Attrs returns the attributes of e: one for each field that is set. The
// outcome is there where something was judged.
func Attrs(e backstay.Event) []slog.Attr {
	a := make(attrs, 0, 8)
	a.text("policy", e.Policy)
	a.text("key", e.Key)
	a.text("operation", e.Operation)
	a.number("attempt", int64(e.Attempt))
	a.number("copy", int64(e.Copy))
	if judged(e) {
		a.text("outcome", e.Outcome.Class.String())
	}
	a.text("reason", string(e.Reason))
	a.text("rung", e.Rung)
	a.text("from", e.From)
	a.text("to", e.To)
	a.number("limit", e.Limit)
	a.time("wait", e.Wait)
	a.time("elapsed", e.Elapsed)
	if e.Err != nil {
		a = append(a, slog.Any("error", e.Err))
	}
	a.text("stack", stackOf(e.Err))
	return a
}

// stackOf is where the panic came from that err tells of, if it does: that of a
// handler, or of an actor's method, whose type only has the method in common
// with what others may tell.
func stackOf(err error) string {
	switch p := err.(type) { //nolint:errorlint // it is the event's own
	case *middleware.PanicError:
		return string(p.Stack)
	case interface{ Stack() []byte }:
		return string(p.Stack())
	default:
		return ""
	}
}

// judged reports whether the outcome of e says something: that of a success
// looks like that of an event without one.
func judged(e backstay.Event) bool {
	switch e.Kind {
	case backstay.CallDone, backstay.AttemptDone, backstay.HedgeDone, backstay.StepDone:
		return true
	default:
		return e.Outcome.Class != backstay.Success
	}
}

// attrs grows by what is set.
type attrs []slog.Attr

func (a *attrs) text(name, value string) {
	if value != "" {
		*a = append(*a, slog.String(name, value))
	}
}

func (a *attrs) number(name string, value int64) {
	if value != 0 {
		*a = append(*a, slog.Int64(name, value))
	}
}

func (a *attrs) time(name string, d time.Duration) {
	if d != 0 {
		*a = append(*a, slog.Duration(name, d))
	}
}
