package wire

import (
	"strconv"
	"time"
)

// Points in time as Unix milliseconds have 12 to 14 digits, from 1973 to 5138.
// Seconds have 10, microseconds 16: the number of digits tells them apart.
const (
	minEpochMillis = 100_000_000_000
	maxEpochMillis = 99_999_999_999_999
)

// FormatEpochMillis tells a point in time in Unix milliseconds, rounded down
// and bounded to 12 to 14 digits.
func FormatEpochMillis(t time.Time) string {
	// UnixMilli is not defined for years that do not fit into 64 bits.
	switch year := t.Year(); {
	case year < 1973:
		return strconv.FormatInt(minEpochMillis, 10)
	case year > 5138:
		return strconv.FormatInt(maxEpochMillis, 10)
	}
	return strconv.FormatInt(min(max(t.UnixMilli(), minEpochMillis), maxEpochMillis), 10)
}

// ParseEpochMillis reads 12 to 14 digits.
func ParseEpochMillis(v string) (time.Time, error) {
	n, ok := number(v)
	if !ok || len(v) < 12 || len(v) > 14 {
		return time.Time{}, malformed(v, "12 to 14 digits of Unix milliseconds")
	}
	return time.UnixMilli(int64(n)), nil
}

// FormatRFC3339 tells a point in time in UTC with milliseconds, rounded down,
// bounded to the years that the form has.
func FormatRFC3339(t time.Time) string {
	t = t.UTC()
	switch year := t.Year(); {
	case year < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		t = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t.Format("2006-01-02T15:04:05.000Z07:00")
}

// ParseRFC3339 reads a point in time with a zone.
func ParseRFC3339(v string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return time.Time{}, malformed(v, "a point in time as RFC 3339 has it")
	}
	return t, nil
}

// Left returns the time from now until t, which a clock wrote that may be
// behind ours by skew; negative if t has passed even so.
func Left(t, now time.Time, skew time.Duration) time.Duration {
	return plus(t.Sub(now), max(skew, 0))
}
