package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// errGoexit: a method called runtime.Goexit, as a failed test assertion does.
var errGoexit = errors.New("the method ended its goroutine")

// PanicError is a panic of a method or a hook.
type PanicError struct {
	Value any
	stack []byte
}

// newPanicError is made where the panic is recovered: the stack is the one of
// the goroutine that calls.
func newPanicError(v any) *PanicError { return &PanicError{Value: v, stack: debug.Stack()} }

// Error reads, for example, "panic: index out of range".
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Stack is that of the goroutine that panicked, as debug.Stack formats it.
// Observers look for it by this method, since they cannot name the type.
func (e *PanicError) Stack() []byte { return e.stack }

// Unwrap is what was thrown, if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// run runs the method, however it ends. Whatever happens to its goroutine, the
// loop learns of it.
func (a *Attempt) run() {
	var end End
	returned := false
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				end = a.panicked(v)
			} else {
				end, a.goexit = End{Retry: &Retry{Reason: errGoexit.Error()}}, true
			}
		}
		a.ctx.Cancel()
		a.finish(end)
		a.inc.methods.Done()
	}()
	end = a.perform(&a.ctx)
	returned = true
}

// panicked makes a panic a failed attempt (A45).
func (a *Attempt) panicked(v any) End {
	err := newPanicError(v)
	a.inc.node.report(Event{
		Kind: HookPanicked, Partition: a.inc.self, Epoch: a.inc.epoch, Actor: a.request.Target.Actor,
		Method: a.request.Method, ID: a.request.ID, Attempt: a.number, Err: err,
	})
	return End{Retry: &Retry{Reason: err.Error()}}
}

// perform activates the actor, if that is needed, and runs the method; unless
// the incarnation has ended since the method was given to a worker.
func (a *Attempt) perform(ctx context.Context) End {
	if a.inc.fallen.Load() {
		return End{Retry: &Retry{Reason: ErrLost.Error()}}
	}
	if failed := a.activate(ctx); failed != nil {
		return *failed
	}
	a.instance = a.slot.instance
	if a.method.Run == nil { // a shared method that is called within a chain
		cells, err := a.Cells(ctx, "")
		if err != nil {
			return End{Retry: &Retry{Reason: err.Error()}}
		}
		return End{Result: a.method.Read(ctx, &Reading{cells: cells, request: record.Read{
			ID: a.request.ID, Deadline: a.request.Deadline, Target: a.request.Target,
			Method: a.request.Method, Args: a.request.Args, Baggage: a.request.Baggage,
		}})}
	}
	return a.method.Run(ctx, a)
}

// activate makes the instance. Nobody else is on the actor: an attempt that
// parks has one already, since Activate may not call.
func (a *Attempt) activate(ctx context.Context) *End {
	s := a.slot
	if s.active.Load() || a.inc.typ.Activate == nil || a.method.Bare {
		return nil
	}
	a.setActivating(true)
	defer a.setActivating(false)
	instance, failed := a.inc.typ.Activate(ctx, a)
	if failed != nil {
		return failed
	}
	s.instance = instance
	s.active.Store(true)
	return nil
}

func (a *Attempt) setActivating(is bool) {
	a.mu.Lock()
	a.activating = is
	a.mu.Unlock()
}
