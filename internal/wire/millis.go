package wire

import (
	"strconv"
	"time"
)

// The most that ten digits hold, 115 days.
const maxMillis = 9_999_999_999

// FormatMillis tells what is left of a deadline in milliseconds, rounded down;
// "0" where it has passed. More than ten digits hold is told as the most they
// do.
func FormatMillis(left time.Duration) string {
	return strconv.FormatInt(min(max(left.Milliseconds(), 0), maxMillis), 10)
}

// ParseMillis reads one to ten digits.
func ParseMillis(v string) (time.Duration, error) {
	n, ok := number(v)
	if !ok || len(v) > 10 {
		return 0, malformed(v, "1 to 10 digits of milliseconds")
	}
	return times(n, time.Millisecond), nil
}

// FormatEnvoyMillis is FormatMillis for Envoy, to which 0 means no timeout: a
// deadline that has passed is told as "1", as Envoy itself does.
func FormatEnvoyMillis(left time.Duration) string {
	return strconv.FormatInt(max(left.Milliseconds(), 1), 10)
}

// ParseEnvoyMillis reads digits. "0" is an error, since to Envoy it means that
// there is no timeout.
func ParseEnvoyMillis(v string) (time.Duration, error) {
	n, ok := number(v)
	if !ok || n == 0 {
		return 0, malformed(v, "a positive number of milliseconds")
	}
	return times(n, time.Millisecond), nil
}
