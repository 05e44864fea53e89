package idempotency

import "github.com/backstay-go/backstay"

// What a [Guard] tells its scope's observer, besides backstay.CallRejected for
// every refusal (Reason, Err, Wait).
const (
	// KeyReplayed says that a stored answer was given; Elapsed is the time
	// that was spent waiting for it.
	KeyReplayed backstay.Kind = "key replayed"
	// LeaseLost says that an owner may not be the only one any longer; Err
	// says why. Its work was told through its context.
	LeaseLost backstay.Kind = "lease lost"
	// AnswerNotKept says that work was done whose answer cannot be replayed;
	// Err says why. Where the store failed, a repetition may do it again.
	AnswerNotKept backstay.Kind = "answer not kept"
	// KeyNotFreed says that work failed and the store could not be told; Err
	// says why. The key is free once the lease has passed.
	KeyNotFreed backstay.Kind = "key not freed"
)

// What a [Store] that asks another process tells its own scope's observer.
const (
	// StoreFailed says that the store could not do what it was asked for:
	// Operation says what that was (begin, renew, complete or release), Err
	// why not.
	StoreFailed backstay.Kind = "store failed"
	// LetThrough says that work begins unprotected, because the store failed
	// and is configured so; Err says how.
	LetThrough backstay.Kind = "let through"
)

// Why a [Guard] refused; see [Error.Reason].
const (
	ReasonKeyMissing    backstay.Reason = "key_missing"
	ReasonKeyInvalid    backstay.Reason = "key_invalid"
	ReasonMismatch      backstay.Reason = "key_mismatch"
	ReasonInFlight      backstay.Reason = "key_in_flight"
	ReasonAnswerNotKept backstay.Reason = "answer_not_kept"
	ReasonStoreFull     backstay.Reason = "store_full"
	ReasonStoreFailed   backstay.Reason = "store_failed"
	ReasonLeaseLost     backstay.Reason = "lease_lost"
	ReasonBodyTooLarge  backstay.Reason = "body_too_large"
)
