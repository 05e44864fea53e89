package wire

import (
	"math"
	"time"
)

// Attempt reads the fields of x-backstay-attempt: the number of the attempt,
// 1 where they are absent or not usable. Of several the largest counts.
func Attempt(values []string) int { return max(count(values), 1) }

// PreviousTries reads grpc-previous-rpc-attempts and returns the number of
// the attempt, which is one more; 1 where it is absent or not usable.
func PreviousTries(values []string) int {
	return min(count(values), math.MaxInt32-1) + 1
}

// count returns the largest number among values, bounded to 31 bits.
func count(values []string) (n int) {
	for _, v := range values {
		if u, ok := number(trim(v)); ok {
			n = max(n, int(min(u, math.MaxInt32)))
		}
	}
	return n
}

// Pushback reads grpc-retry-pushback-ms. ok is false where there is none.
// Otherwise the server decides: if retry is true, the next attempt comes after
// exactly d, and else (a negative number, junk, or more than one value) not at
// all.
func Pushback(values []string) (d time.Duration, retry, ok bool) {
	if len(values) == 0 {
		return 0, false, false
	}
	n, numeric := number(trim(values[0]))
	if len(values) > 1 || !numeric {
		return 0, false, true
	}
	return times(n, time.Millisecond), true, true
}
