package fallback

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/backstay-go/backstay"
)

// ReasonDrill is the reason in the events and reports of drills.
const ReasonDrill backstay.Reason = "drill"

// Run calls next and answers by a rung of l where that fails, see
// [Ladder.Applies]. A failed answer (err == nil, but judged a failure) is
// discarded where a rung answers or a [Fail] rung ends the ladder, and
// returned as it is otherwise. An error is returned, where no rung
// answers, wrapped in an [*Error]. A panic of next passes through.
//
// A success costs no allocation; beside a cached rung it costs the lookup of
// its key.
func Run[Q, R any](ctx context.Context, l *Ladder[Q, R], x backstay.Exchange[Q, R], q Q, next backstay.Call[Q, R]) (R, error) {
	if l == nil {
		return next(ctx, q)
	}
	if l.config.DrillShare > 0 {
		if r, ok := drill(ctx, l, x, q); ok {
			return r, nil
		}
	}
	r, err := next(ctx, q)
	if err != nil || x.Classify(r, nil).Class != backstay.Success {
		return replace(ctx, l, x, q, r, err)
	}
	if l.memory != nil {
		r = l.memory.remember(ctx, q, r)
	}
	return r, nil
}

// Do is [Run] for ordinary functions, judged by [backstay.Classify].
func Do[T any](ctx context.Context, l *Ladder[struct{}, T], f func(ctx context.Context) (T, error)) (T, error) {
	return Run(ctx, l, backstay.Plain[T]{}, struct{}{}, func(ctx context.Context, _ struct{}) (T, error) {
		return f(ctx)
	})
}

// DoFor is [Do] for functions of a request, which the rungs see too. q is kept
// and used by a background refresh after DoFor has returned.
func DoFor[Q, T any](ctx context.Context, l *Ladder[Q, T], q Q, f func(ctx context.Context, q Q) (T, error)) (T, error) {
	return Run(ctx, l, function[Q, T]{}, q, f)
}

// function is what backstay.Plain is, for functions of a request.
type function[Q, R any] struct{ backstay.Plain[R] }

func (function[Q, R]) Repeat(Q, backstay.Outcome) error { return nil }
func (function[Q, R]) Fork(q Q, _ int) (Q, error)       { return q, nil }

// drill lets a rung answer before anything has failed. Where none does, the
// call is made as usual.
//
//go:noinline
func drill[Q, R any](ctx context.Context, l *Ladder[Q, R], x backstay.Exchange[Q, R], q Q) (r R, ok bool) {
	if !l.config.Drills(rand.Float64()) || l.flights.carry(ctx) {
		return r, false
	}
	got, missed := l.search(ctx, x, q, ErrDrill)
	if missed != nil {
		return r, false
	}
	l.tell(ctx, got, backstay.Event{Err: ErrDrill, Reason: ReasonDrill})
	return got.r, true
}

// replace finds an answer for a call that ended in r and err. It stays out of
// line: what escapes here would otherwise cost the success an allocation.
//
//go:noinline
func replace[Q, R any](ctx context.Context, l *Ladder[Q, R], x backstay.Exchange[Q, R], q Q, r R, err error) (R, error) {
	o := backstay.Judge(ctx, x, r, err)
	if len(l.rungs) == 0 || l.flights.carry(ctx) || !l.applies(ctx, o, err) {
		return r, err
	}
	cause, unseen := err, err == nil
	if unseen {
		cause = &CauseError{o}
	}
	defer func() {
		if unseen { // true also where a rung ends this goroutine
			x.Discard(r)
		}
	}()
	got, missed := l.search(ctx, x, q, cause)
	switch {
	case missed == nil:
		l.tell(ctx, got, backstay.Event{Err: cause, Outcome: o})
		return got.r, nil
	case missed.Clear != nil:
		return got.r, missed
	}
	unseen = false
	if err != nil {
		err = missed
	}
	return r, err
}

// applies is Applies with the user's predicate kept from doing harm.
func (l *Ladder[Q, R]) applies(ctx context.Context, o backstay.Outcome, err error) (yes bool) {
	gone := ctx.Err() != nil
	defer func() {
		if v := recover(); v != nil {
			l.tellPanic(ctx, panicError("the When predicate", v))
			yes = Failed(o, err)
		}
	}()
	return l.Applies(o, err, gone)
}

// found is what a rung answered.
type found[R any] struct {
	r    R
	rung string
	age  time.Duration // of a cached value
}

// search asks rung after rung until one answers, and otherwise tells how each
// of them failed.
func (l *Ladder[Q, R]) search(ctx context.Context, x backstay.Exchange[Q, R], q Q, cause error) (found[R], *Error) {
	missed := &Error{Name: l.scope.Name(), Cause: cause}
	for i := range l.rungs {
		rung := &l.rungs[i]
		if ctx.Err() != nil {
			break
		}
		if missed.Clear = rung.clear; missed.Clear != nil {
			break
		}
		got, err := l.try(ctx, x, rung, q, cause)
		if err == nil {
			return got, nil
		}
		missed.Rungs = append(missed.Rungs, RungError{rung.Name, err})
	}
	return found[R]{}, missed
}

// try asks one rung. Its panic is told and becomes its error.
func (l *Ladder[Q, R]) try(ctx context.Context, x backstay.Exchange[Q, R], rung *Rung[Q, R], q Q, cause error) (got found[R], err error) {
	defer func() {
		if v := recover(); v != nil {
			got, err = found[R]{}, panicError("rung "+rung.Name, v)
			l.tellPanic(ctx, err)
		}
	}()
	got.rung = rung.Name
	if rung.cache != nil {
		got.r, got.age, err = l.memory.recall(ctx, x, q)
	} else {
		got.r, err = rung.Answer(ctx, q, cause)
	}
	if err != nil || rung.trusted {
		return got, err
	}
	if o := x.Classify(got.r, nil); Failed(o, nil) {
		x.Discard(got.r)
		return found[R]{}, &CauseError{o}
	}
	return got, nil
}

// tell puts the use of a rung into the report and hands it to the observer.
func (l *Ladder[Q, R]) tell(ctx context.Context, got found[R], e backstay.Event) {
	backstay.Note(ctx, func(s *backstay.Summary) {
		s.Degraded, s.Rung, s.Cause, s.Age = true, got.rung, e.Err, got.age
		if e.Reason != "" {
			s.Reason = e.Reason
		}
	})
	e.Kind, e.Rung = backstay.FallbackUsed, got.rung
	l.scope.Emit(ctx, e)
}

func (l *Ladder[Q, R]) tellPanic(ctx context.Context, err error) {
	l.scope.Emit(ctx, backstay.Event{Kind: backstay.CallbackPanicked, Err: err})
}
