package kafka

import "strings"

// The client's own producers, for transactions and for beats, have a breaker for
// each partition that they produce to: when one has failed three times in a row to
// learn who leads the partition, it refuses at once what is sent there for 10 s.
// What it says then is no sentinel of its own, and reads as if one of ours had
// opened.
const itsBreaker = "circuit breaker is open"

// pausedError is what the client refuses so, in words that say who, why and what
// next.
type pausedError struct{ cause error }

// paused is err, put into words if the client has refused so.
func paused(err error) error {
	if err == nil || !strings.HasSuffix(err.Error(), itsBreaker) {
		return err
	}
	return &pausedError{err}
}

// Error does not say what the client says.
func (*pausedError) Error() string {
	return "sarama, the client, has failed three times in a row to find the broker that leads the partition, and looks for it again in 10 s at most; can the brokers be reached?"
}

// Unwrap is what the client says.
func (e *pausedError) Unwrap() error { return e.cause }
