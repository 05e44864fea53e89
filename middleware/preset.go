package middleware

import (
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// Standard returns the target most calls want: a total deadline, retries with
// a budget, a breaker, a bulkhead and an attempt timeout, each with its
// defaults. It generates no idempotency keys, so no POST is repeated once
// bytes of it may have been sent, and tells nobody of its deadlines.
func Standard(name string) Target {
	return Target{Name: name, Config: Config{
		Deadline: &deadline.Config{},
		Retry:    &retry.Config{},
		Breaker:  &breaker.Config{},
		Bulkhead: &bulkhead.Config{},
		Timeout:  &timeout.Config{},
	}}
}

// Internal returns [Standard] for a service of one's own: every host is told
// of the deadline and of the attempt's number.
func Internal(name string) Target {
	t := Standard(name)
	t.Propagate = Propagation{Hosts: []string{"*"}}
	return t
}

// Reads returns [Internal] with hedging: for services whose reads are many,
// quick and safe, and whose slowest answers hurt.
func Reads(name string) Target {
	t := Internal(name)
	t.Hedge = &hedge.Config{}
	return t
}
