package wire

import (
	"strings"
	"time"
)

// RetryAfter reads the fields of Retry-After: seconds, or an HTTP date in any
// of its three shapes. Of several usable fields the largest counts. A fraction
// of a second, which the standard does not know but servers send, counts in
// full. ok is false where no wait is asked for: no field is usable, or all say
// zero or name a time that has passed. The caller's own backoff serves then;
// it never means "at once".
func RetryAfter(values []string, now time.Time) (d time.Duration, ok bool) {
	for _, v := range values {
		d = max(d, retryAfter(trim(v), now))
	}
	return d, d > 0
}

func retryAfter(v string, now time.Time) time.Duration {
	if d, ok := seconds(v); ok {
		return d
	}
	if t, ok := httpDate(v); ok {
		return t.Sub(now)
	}
	return 0
}

// seconds reads "120" and "1.5", rounding up to the nanosecond.
func seconds(v string) (d time.Duration, ok bool) {
	whole, fraction, dotted := strings.Cut(v, ".")
	n, ok := number(whole)
	if !ok {
		return 0, false
	}
	d = times(n, time.Second)
	if !dotted {
		return d, true
	}
	if _, ok = number(fraction); !ok {
		return 0, false
	}
	return plus(d, nanos(fraction)), true
}

// nanos reads the digits behind a decimal point.
func nanos(digits string) (d time.Duration) {
	unit := time.Second / 10
	for i := range len(digits) {
		if unit == 0 {
			if strings.Trim(digits[i:], "0") != "" {
				d++
			}
			break
		}
		d += time.Duration(digits[i]-'0') * unit
		unit /= 10
	}
	return d
}

// httpDate reads the three shapes of RFC 9110, as http.ParseTime does.
func httpDate(v string) (time.Time, bool) {
	const imf = "Mon, 02 Jan 2006 15:04:05 GMT"
	for _, layout := range [...]string{imf, time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, v); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Millis reads the fields of a cousin of Retry-After that is in milliseconds, as
// RetryAfter does.
func Millis(values []string) (d time.Duration, ok bool) {
	for _, v := range values {
		if n, ok := number(trim(v)); ok {
			d = max(d, times(n, time.Millisecond))
		}
	}
	return d, d > 0
}

// ServerWait returns the wait that the headers of an answer ask for, 0 if
// none: that of Retry-After or of one of its cousins, which count only if the
// caller names them, whichever is longest. Where none of these is present, the
// reset time of an exhausted RateLimit serves.
func ServerWait(h Getter, now time.Time, cousins ...string) time.Duration {
	values := h.Values(HeaderRetryAfter)
	d, _ := RetryAfter(values, now)
	present := len(values) > 0
	for _, name := range cousins {
		values = h.Values(name)
		cousin, _ := Millis(values)
		d = max(d, cousin)
		present = present || len(values) > 0
	}
	if present {
		return d
	}
	for _, l := range RateLimits(h.Values(HeaderRateLimit)) {
		if l.Remaining == 0 {
			d = max(d, l.Reset)
		}
	}
	return d
}
