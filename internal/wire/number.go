package wire

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// forever stands for every duration that does not fit.
const forever = time.Duration(math.MaxInt64)

// number reads a string of decimal digits and nothing else; what does not fit
// is math.MaxUint64.
func number(s string) (n uint64, ok bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(s) {
		digit := uint64(s[i] - '0')
		if digit > 9 {
			return 0, false
		}
		if n > (math.MaxUint64-digit)/10 {
			n = math.MaxUint64 // and stays so: every further digit lands here again
			continue
		}
		n = n*10 + digit
	}
	return n, true
}

// times returns n units, saturating.
func times(n uint64, unit time.Duration) time.Duration {
	if n > uint64(forever/unit) {
		return forever
	}
	return time.Duration(n) * unit
}

// plus returns a+b for b >= 0, saturating.
func plus(a, b time.Duration) time.Duration {
	if a > forever-b {
		return forever
	}
	return a + b
}

// trim removes the white space that HTTP allows around a value.
func trim(s string) string { return strings.Trim(s, " \t") }

// malformed is the error of a value that is not what it should be. The value
// may be long and hostile, so only its beginning is quoted.
func malformed(value, want string) error {
	const most = 40
	cut := ""
	if len(value) > most {
		value, cut = value[:most], "..."
	}
	return fmt.Errorf("wire: %q%s is not %s", value, cut, want)
}
