package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// failed turns a method's error into what travels. An error that came from a
// callee keeps its code; one that wraps a registered error gets that one's.
func failed(err error) record.Result {
	return record.Result{Failure: &record.Failure{Code: methodCode + codeOf(err), Message: err.Error()}}
}

// codeOf is the code under which an error is registered, or was where it came
// from; empty if it is not.
func codeOf(err error) string {
	code := registry.codeOf(err)
	if travelled, ok := errors.AsType[*Error](err); ok && code == "" {
		code = travelled.Code
	}
	return code
}

// methodCode begins the codes of errors that methods returned, so that they
// cannot be mistaken for the runtime's own.
const methodCode = "method:"

// callee is who is called, for errors: it is put into words only there.
type callee struct{ actor, id, method string }

// target is where it goes.
func (c *callee) target() record.Address { return record.Address{Type: c.actor, Actor: c.id} }

// address reads, for example, "account/alice".
func (c *callee) address() string {
	if c.id == "" { // the type as a whole
		return c.actor
	}
	return c.actor + "/" + c.id
}

// String is the address as it is put into texts.
func (c *callee) String() string { return clipped(c.address()) }

// longestAddress bounds what a text says of an address, in bytes: an id can be
// as long as a record, and errors go into logs.
const longestAddress = 200

func clipped(address string) string {
	if len(address) <= longestAddress {
		return address
	}
	return strings.ToValidUTF8(address[:longestAddress], "") + "…"
}

// failed says which call an error of the runtime belongs to.
func (c *callee) failed(err error) error {
	if err == nil {
		return nil
	}
	if _, said := errors.AsType[*CallError](err); said {
		return err
	}
	return &CallError{Actor: c.address(), Method: c.method, Err: own(err)}
}

// answer decodes what a call ended with.
func answer[Out any](c *callee, codec Codec, r record.Result) (out Out, err error) {
	if r.Failure != nil {
		return out, c.failure(r.Failure)
	}
	if out, err = decode[Out](codec, r.Value); err != nil {
		return out, mistake("actors: result of %s.%s: %w", c.String(), c.method, err)
	}
	return out, nil
}

// failure turns what travelled into an error.
func (c *callee) failure(f *record.Failure) error {
	if code, ok := strings.CutPrefix(f.Code, methodCode); ok {
		return &Error{Code: code, Message: f.Message}
	}
	e := &CallError{Actor: c.address(), Method: c.method, Detail: f.Message, Err: sentinel(f.Code)}
	if f.Code == runtime.CodePoison && len(f.Detail) > 0 {
		e.last = &Error{Code: string(f.Detail), Message: f.Message}
	}
	return e
}

// sentinels are the errors that the codes of the runtime stand for.
var sentinels = map[string]error{
	runtime.CodeExpired:   ErrExpired,
	runtime.CodeCancelled: ErrCancelled,
	runtime.CodeRefused:   ErrMailboxFull,
	runtime.CodePoison:    ErrPoison,
	runtime.CodeDeadlock:  ErrDeadlock,
	runtime.CodeNoMethod:  ErrNoMethod,
	runtime.CodeNoType:    ErrNoType,
	runtime.CodeTooLarge:  ErrTooLarge,
	runtime.CodeUnknown:   ErrUnknownKey,
	runtime.CodePending:   ErrPending,
	codeNotCompleted:      ErrNotCompleted,
}

func sentinel(code string) error {
	if err := sentinels[code]; err != nil {
		return err
	}
	return fmt.Errorf("actors: failed with %q", code) // of a newer program
}

// own puts an error of the runtime into the words of this package. nil stays
// nil.
func own(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runtime.ErrOver):
		return ErrOver
	case errors.Is(err, runtime.ErrStopped):
		return ErrStopped
	case errors.Is(err, runtime.ErrBusy):
		return ErrBusy
	case errors.Is(err, runtime.ErrTooLarge):
		return reworded(ErrTooLarge, err, runtime.ErrTooLarge)
	case errors.Is(err, journal.ErrTooLarge): // by a broker, or what leads there
		return reworded(ErrTooLarge, err, journal.ErrTooLarge)
	case errors.Is(err, runtime.ErrDepth):
		return reworded(ErrTooDeep, err, runtime.ErrDepth)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrUnanswered, err)
	default:
		return err
	}
}

// reworded is err, which begins with the words of one sentinel, with those of
// another.
func reworded(ours, err, theirs error) error {
	return fmt.Errorf("%w%s", ours, strings.TrimPrefix(err.Error(), theirs.Error()))
}
