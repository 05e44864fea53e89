package idempotency_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

func TestTheSenderOfAKeyIsToldNothingOfTheStore(t *testing.T) {
	secret := errors.New("dial tcp 10.0.0.7:6379: connect: connection refused")
	for err, reason := range map[error]backstay.Reason{
		idempotency.ErrKeyMissing:    "key_missing",
		idempotency.ErrKeyInvalid:    "key_invalid",
		idempotency.ErrMismatch:      "key_mismatch",
		idempotency.ErrInFlight:      "key_in_flight",
		idempotency.ErrLeaseLost:     "lease_lost",
		idempotency.ErrAnswerNotKept: "answer_not_kept",
		idempotency.ErrBodyTooLarge:  "body_too_large",
		idempotency.ErrStoreFull:     "store_full",
		idempotency.ErrStoreFailed:   "store_failed",
		secret:                       "",
	} {
		e := &idempotency.Error{Err: fmt.Errorf("wrapped: %w", err), Name: "orders", Detail: "detail", Cause: secret}
		text := e.Told()
		if e.Reason() != reason || text == "" || strings.Contains(text, "10.0.0.7") || strings.Contains(text, "orders") {
			t.Errorf("%v: reason %q, %q", err, e.Reason(), text)
		}
	}
}
