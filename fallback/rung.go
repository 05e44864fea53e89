package fallback

import (
	"context"
	"fmt"

	"github.com/backstay-go/backstay"
)

// maxName bounds a rung's name, which becomes a label of metrics.
const maxName = 64

// Rung is one alternative of a [Ladder]. The constructors [Cached], [Reduced],
// [Deferred], [Value] and [Fail] make rungs for ordinary functions, those of
// [For] make rungs that see the request; a literal with Name and Answer is as
// good as [For.Reduced].
type Rung[Q, R any] struct {
	// Name appears in reports, events and metrics: 1 to 64 bytes, unique
	// within the ladder, never made from a request.
	Name string
	// Answer answers q in place of the call. cause is never nil: the error
	// that the call failed with, a [*CauseError] where it failed by its
	// answer, or [ErrDrill]. An error, a panic, or an answer that is itself
	// judged a failure passes on to the next rung. ctx is the caller's.
	Answer func(ctx context.Context, q Q, cause error) (R, error)

	trusted bool                      // its answers are not judged
	sure    bool                      // nothing below it is ever reached
	clear   error                     // set by Fail alone
	cache   func(owner) memory[Q, R]  // set by Cached alone
	check   func(path string) []error // the faults of what only the constructor sees
}

// Rungs makes a slice of its arguments, best first, without naming their types.
func Rungs[Q, R any](best ...Rung[Q, R]) []Rung[Q, R] { return best }

// For makes rungs that see the request: Q is what is asked, R is what is
// answered. It holds nothing; it states the two types once:
//
//	var rung fallback.For[string, Price]
//	rungs := fallback.Rungs(
//		rung.Cached(sku, fetchPrice),
//		rung.Reduced("list price", listPrice),
//		rung.Value(Price{Unknown: true}),
//	)
type For[Q, R any] struct{}

// Cached answers with the last good value of the same key, see [Cache]. key
// tells which calls share a value ("" keeps a call out of the cache): it must
// name everything that the answer depends on, the tenant or user included.
// refresh is called in the background when a stale value is served; nil for
// none. The name is "cached".
//
// The value itself is kept: its first caller and everybody who is served it
// later share it, so it must not be changed. Where that is too much to ask,
// use a [Cache] whose Save and Load copy.
func (For[Q, R]) Cached(key func(ctx context.Context, q Q) string, refresh backstay.Call[Q, R]) Rung[Q, R] {
	same := func(r R) R { return r }
	return Cache[Q, R, R]{Key: key, Refresh: refresh, in: same, out: same}.Rung()
}

// Reduced answers by f with something of lesser quality: another source, a
// list instead of a ranking, an estimate.
func (For[Q, R]) Reduced(name string, f func(ctx context.Context, q Q, cause error) (R, error)) Rung[Q, R] {
	return Rung[Q, R]{Name: name, Answer: f}
}

// Deferred answers by f, which hands the work to a queue or an actor and
// returns an acknowledgement. The failed call may have had its effect: hand
// its idempotency key on with the work.
func (For[Q, R]) Deferred(name string, f func(ctx context.Context, q Q, cause error) (R, error)) Rung[Q, R] {
	return Rung[Q, R]{Name: name, Answer: f}
}

// Value answers with v, whatever class v is judged to have. All callers share
// v: it must not be changed, nor be used up by reading it. It always answers,
// so it is the last rung. The name is "value".
func (For[Q, R]) Value(v R) Rung[Q, R] {
	return Rung[Q, R]{Name: "value", trusted: true, sure: true,
		Answer: func(context.Context, Q, error) (R, error) { return v, nil }}
}

// Fail ends the ladder with err, a clear error in place of the failure, as an
// [*Error] that unwraps to err and to the cause. It is the last rung, does not
// count as degraded, and takes no part in drills. Its name, "fail", appears
// nowhere but in faults. [backstay.Mark] gives err a class of its own.
func (For[Q, R]) Fail(err error) Rung[Q, R] {
	return Rung[Q, R]{Name: "fail", sure: true, clear: err, check: func(path string) []error {
		if err != nil {
			return nil
		}
		return []error{fault(path+".err", err, "must be set")}
	}}
}

// Cached is [For.Cached] for ordinary functions. A nil key means that there is
// one value, the same for every call.
func Cached[T any](key func(ctx context.Context) string, refresh func(ctx context.Context) (T, error)) Rung[struct{}, T] {
	return For[struct{}, T]{}.Cached(
		func(ctx context.Context, _ struct{}) string {
			if key == nil {
				return "the one"
			}
			return key(ctx)
		}, withRequest(refresh))
}

func withRequest[T any](f func(ctx context.Context) (T, error)) backstay.Call[struct{}, T] {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, _ struct{}) (T, error) { return f(ctx) }
}

// Reduced is [For.Reduced] for ordinary functions.
func Reduced[T any](name string, f func(ctx context.Context, cause error) (T, error)) Rung[struct{}, T] {
	return For[struct{}, T]{}.Reduced(name, withCause(f))
}

// Deferred is [For.Deferred] for ordinary functions.
func Deferred[T any](name string, f func(ctx context.Context, cause error) (T, error)) Rung[struct{}, T] {
	return For[struct{}, T]{}.Deferred(name, withCause(f))
}

func withCause[T any](f func(ctx context.Context, cause error) (T, error)) func(context.Context, struct{}, error) (T, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, _ struct{}, cause error) (T, error) { return f(ctx, cause) }
}

// Value is [For.Value] for ordinary functions.
func Value[T any](v T) Rung[struct{}, T] { return For[struct{}, T]{}.Value(v) }

// Fail is [For.Fail] for ordinary functions.
func Fail[T any](err error) Rung[struct{}, T] { return For[struct{}, T]{}.Fail(err) }

// faults returns every fault of the rungs, alone and together.
func faults[Q, R any](c Config, rungs []Rung[Q, R]) (all []error) {
	if c.FailClosed && len(rungs) > 0 {
		all = append(all, fault("fail_closed", true, fmt.Sprintf("must not be set where there are rungs (here: %d)", len(rungs))))
	}
	if c.DrillShare > 0 && len(rungs) == 0 {
		all = append(all, fault("drill_share", c.DrillShare, "must be 0 where there are no rungs"))
	}
	names, cached := map[string]bool{}, false
	for i, rung := range rungs {
		path := fmt.Sprintf("rungs[%d]", i)
		all = append(all, rung.faults(path)...)
		if names[rung.Name] {
			all = append(all, fault(path+".name", rung.Name, "must be unique"))
		}
		names[rung.Name] = true
		if rung.sure && i < len(rungs)-1 {
			all = append(all, fault(path, rung.Name, "must be the last rung: those below it are never reached"))
		}
		if rung.cache != nil && cached {
			all = append(all, fault(path, rung.Name, "must be the only cached rung"))
		}
		cached = cached || rung.cache != nil
	}
	return all
}

// faults returns what is wrong with the rung alone.
func (r Rung[Q, R]) faults(path string) (all []error) {
	if r.Name == "" || len(r.Name) > maxName {
		all = append(all, fault(path+".name", fmt.Sprintf("%q", r.Name), "must have 1 to 64 bytes"))
	}
	if r.Answer == nil && r.cache == nil && !r.sure {
		all = append(all, fault(path+".answer", nil, "must be set"))
	}
	if r.check != nil {
		all = append(all, r.check(path)...)
	}
	return all
}

func fault(path string, value any, allowed string) error {
	return &backstay.FieldError{Path: path, Value: value, Allowed: allowed}
}
