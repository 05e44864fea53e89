package redis

import (
	"fmt"
	"math"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// parse reads the answer of begin. It returns ErrCorrupt for a key that holds
// something else, and another error for an answer that makes no sense.
func parse(reply any) (idempotency.Result, error) {
	state, detail, err := split(reply)
	if err != nil {
		return idempotency.Result{}, err
	}
	switch state {
	case started:
		return idempotency.Result{State: idempotency.Started}, nil
	case mismatched:
		return idempotency.Result{State: idempotency.Mismatched}, nil
	case inFlight:
		return flying(detail)
	case completed:
		return kept(detail)
	case corrupt:
		return idempotency.Result{}, ErrCorrupt
	default:
		return idempotency.Result{}, nonsense(reply)
	}
}

// split takes a state and its detail apart.
func split(reply any) (state int64, detail any, err error) {
	if pair, ok := reply.([]any); ok && len(pair) == 2 {
		reply, detail = pair[0], pair[1]
	}
	if n, ok := reply.(int64); ok {
		return n, detail, nil
	}
	return 0, nil, nonsense(reply)
}

// flying reads what is left of a lease. A lease that does not end was not
// given by a Store.
func flying(detail any) (idempotency.Result, error) {
	ms, ok := detail.(int64)
	switch {
	case !ok || ms > math.MaxInt64/int64(time.Millisecond):
		return idempotency.Result{}, nonsense(detail)
	case ms < 0:
		return idempotency.Result{}, fmt.Errorf("%w: it is in flight and does not expire", ErrCorrupt)
	}
	left := time.Duration(max(ms, 1)) * time.Millisecond // a lease that has begun to expire is not over
	return idempotency.Result{State: idempotency.InFlight, Remaining: left}, nil
}

// kept reads an answer.
func kept(detail any) (idempotency.Result, error) {
	switch answer := detail.(type) {
	case nil:
		return idempotency.Result{State: idempotency.Completed, Record: idempotency.Record{Omitted: true}}, nil
	case string:
		return idempotency.Result{State: idempotency.Completed, Record: idempotency.Record{Answer: []byte(answer)}}, nil
	default:
		return idempotency.Result{}, nonsense(detail)
	}
}

// parseOwner reads the answer to an owner.
func parseOwner(reply any) error {
	switch reply {
	case int64(done):
		return nil
	case int64(lost):
		return idempotency.ErrLeaseLost
	default:
		return nonsense(reply)
	}
}

// nonsense is an answer that no script of ours gives.
func nonsense(reply any) error {
	return fmt.Errorf("it answered %.60q, which is no answer to the question", fmt.Sprint(reply))
}
