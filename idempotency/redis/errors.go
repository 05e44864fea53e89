package redis

import (
	"errors"
	"fmt"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// What can be wrong with Redis. Every error that a [Store] returns for one of
// these reasons is an [*Error] that matches it through errors.Is; a guard
// wraps it in [idempotency.ErrStoreFailed].
var (
	// ErrFailed says that Redis did not do what it was asked for: it could not
	// be reached, did not answer in time, or answered with an error. The
	// operation may have taken effect. Transient.
	ErrFailed error = &kind{"redis failed", "see to redis, and to its settings in the client", backstay.Transient}
	// ErrCorrupt says that a key holds something that no Store wrote. Nothing
	// was changed. A fault, since asking again does not help.
	ErrCorrupt error = &kind{"the key holds something else",
		"give the store a prefix of its own, or delete the key", backstay.Fault}
)

// kind is a sentinel that knows how it is to be treated.
type kind struct {
	why, next string
	class     backstay.Class
}

func (k *kind) Error() string             { return "idempotency/redis: " + k.why }
func (k *kind) Outcome() backstay.Outcome { return backstay.Outcome{Class: k.class} }

// Error says which operation failed, on which key, why, and what to do next.
type Error struct {
	// Err is the reason: [ErrFailed], [ErrCorrupt] or
	// [idempotency.ErrStoreFull].
	Err error
	// Name is the store's name, from its scope; empty if it has none.
	Name string
	// Op is the operation: begin, renew, complete or release.
	Op string
	// Key is the name of the key in Redis.
	Key string
	// Cause is the error of the client or of Redis; may be nil.
	Cause error
}

// Error reads, for example, `idempotency/redis payments: begin
// "backstay:idem:k1": redis failed: dial tcp: connection refused (see to
// redis, and to its settings in the client)`.
func (e *Error) Error() string {
	text := "idempotency/redis"
	if e.Name != "" {
		text += " " + e.Name
	}
	text += fmt.Sprintf(": %s %.320q: ", e.Op, e.Key)
	k, known := errors.AsType[*kind](e.Err)
	if known {
		text += k.why
	} else {
		text += e.Err.Error()
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if known {
		text += " (" + k.next + ")"
	}
	return text
}

// Unwrap returns the reason and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Cause}
}

// Outcome is that of the reason.
func (e *Error) Outcome() backstay.Outcome { return backstay.Classify(e.Err) }

// reason tells the errors of an operation apart.
func reason(err error) error {
	switch {
	case says(err, "OOM command not allowed"):
		return idempotency.ErrStoreFull
	case errors.Is(err, ErrCorrupt) || says(err, "WRONGTYPE"):
		return ErrCorrupt
	default:
		return ErrFailed
	}
}

// says reports whether err is an answer of Redis that contains text. Before
// Redis 7 the error of a command in a script does not begin with its own code.
func says(err error, text string) bool {
	e, fromRedis := errors.AsType[goredis.Error](err)
	return fromRedis && strings.Contains(e.Error(), text)
}

// answered reports whether an operation that ended in err was answered by
// Redis, be it by an error.
func answered(err error) bool {
	_, fromRedis := errors.AsType[goredis.Error](err)
	return err == nil || fromRedis
}
