package wire_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

const forever = time.Duration(math.MaxInt64)

// now is a whole second before the example of RFC 9110.
var now = time.Date(1994, time.November, 6, 8, 49, 36, 0, time.UTC)

func TestRetryAfterInEveryForm(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []string
		want   time.Duration // 0: the caller's own backoff
	}{
		{"seconds", []string{"120"}, 120 * time.Second},
		{"one second", []string{"1"}, time.Second},
		{"zero is the caller's own backoff", []string{"0"}, 0},
		{"white space around it is allowed", []string{" 120 "}, 120 * time.Second},
		{"a tab around it too", []string{"\t120\t"}, 120 * time.Second},
		{"leading zeros mean nothing", []string{"007"}, 7 * time.Second},
		{"a negative number is not usable", []string{"-5"}, 0},
		{"minus one is not usable", []string{"-1"}, 0},
		{"a plus sign is not usable", []string{"+3"}, 0},
		{"an exponent is not usable", []string{"1e3"}, 0},
		{"junk behind the number is not usable", []string{"120junk"}, 0},
		{"a unit is not usable", []string{"120s"}, 0},
		{"empty is not usable", []string{""}, 0},
		{"blank is not usable", []string{"  "}, 0},
		{"NaN is not usable", []string{"NaN"}, 0},
		{"Inf is not usable", []string{"Inf"}, 0},
		{"hexadecimal is not usable", []string{"0x10"}, 0},
		{"digits of another script are not usable", []string{"١٢"}, 0},
		{"a fraction counts in full", []string{"1.5"}, 1500 * time.Millisecond},
		{"a fraction finer than a nanosecond is rounded up", []string{"0.0000000011"}, 2},
		{"zeros beyond the nanosecond are not", []string{"0.1000000000"}, 100 * time.Millisecond},
		{"a fraction of nothing is nothing", []string{"0.000"}, 0},
		{"a point needs digits behind it", []string{"1."}, 0},
		{"a point needs digits before it", []string{".5"}, 0},
		{"two points are not usable", []string{"1.5.2"}, 0},
		{"a comma is not usable", []string{"1,5"}, 0},
		{"11 digits saturate", []string{"99999999999"}, forever},
		{"292 years fit", []string{"9223372036"}, 9_223_372_036 * time.Second},
		{"a second more saturates", []string{"9223372037"}, forever},
		{"a fraction at the limit saturates", []string{"9223372036.9"}, forever},
		{"the largest int64 saturates", []string{"9223372036854775807"}, forever},
		{"a number that overflows in nanoseconds saturates", []string{"18446744073"}, forever},
		{"the largest uint64 saturates", []string{"18446744073709551615"}, forever},
		{"the next one saturates", []string{"18446744073709551616"}, forever},
		{"20 digits saturate", []string{"99999999999999999999"}, forever},
		{"a thousand digits saturate", []string{strings.Repeat("9", 1000)}, forever},
		{"a date", []string{"Sun, 06 Nov 1994 08:49:37 GMT"}, time.Second},
		{"a date in the shape of RFC 850", []string{"Sunday, 06-Nov-94 08:49:37 GMT"}, time.Second},
		{"a date in the shape of asctime", []string{"Sun Nov  6 08:49:37 1994"}, time.Second},
		{"a date in the past is the caller's own backoff", []string{"Sun, 06 Nov 1994 08:49:35 GMT"}, 0},
		{"a date that is now is too", []string{"Sun, 06 Nov 1994 08:49:36 GMT"}, 0},
		{"a date far away saturates", []string{"Fri, 31 Dec 9999 23:59:59 GMT"}, forever},
		{"a date that does not exist is not usable", []string{"Sun, 31 Feb 1994 08:49:37 GMT"}, 0},
		{"of two fields the larger counts", []string{"3", "5"}, 5 * time.Second},
		{"in any order", []string{"5", "3"}, 5 * time.Second},
		{"a field that is not usable does not hide one that is", []string{"junk", "5", ""}, 5 * time.Second},
		{"a date and a number compare", []string{"Sun, 06 Nov 1994 08:49:46 GMT", "5"}, 10 * time.Second},
		{"no field", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d, ok := wire.RetryAfter(c.fields, now); d != c.want || ok != (c.want > 0) {
				t.Errorf("%q: got %v, %v, want %v", c.fields, d, ok, c.want)
			}
		})
	}
}

func TestDatesAreReadAsNetHTTPReadsThem(t *testing.T) {
	at := now.Add(time.Hour)
	for _, layout := range []string{http.TimeFormat, time.RFC850, time.ANSIC, time.RFC1123Z, time.RFC3339} {
		v := at.Format(layout)
		_, err := http.ParseTime(v)
		d, ok := wire.RetryAfter([]string{v}, now)
		if ok != (err == nil) || ok && d != time.Hour {
			t.Errorf("%q: got %v, %v; net/http: %v", v, d, ok, err)
		}
	}
}

func TestServerWait(t *testing.T) {
	cousins := []string{wire.HeaderRetryAfterMillis, wire.HeaderMSRetryAfterMillis, wire.HeaderAmzRetryAfter}
	for _, c := range []struct {
		name    string
		headers http.Header
		cousins []string
		want    time.Duration
	}{
		{"nothing", http.Header{}, cousins, 0},
		{"Retry-After", http.Header{"Retry-After": {"2"}}, nil, 2 * time.Second},
		{"a cousin counts if it is named", http.Header{"Retry-After-Ms": {"250"}}, cousins, 250 * time.Millisecond},
		{"the second cousin too", http.Header{"X-Ms-Retry-After-Ms": {" 250 "}}, cousins, 250 * time.Millisecond},
		{"the third cousin too", http.Header{"X-Amz-Retry-After": {"250"}}, cousins, 250 * time.Millisecond},
		{"a name in lower case serves", http.Header{"X-Amz-Retry-After": {"250"}}, []string{"x-amz-retry-after"}, 250 * time.Millisecond},
		{"a cousin does not count if it is not named", http.Header{"Retry-After-Ms": {"250"}}, nil, 0},
		{"the longest of all counts", http.Header{"Retry-After": {"1"}, "Retry-After-Ms": {"1500", "7"}, "X-Amz-Retry-After": {"junk"}}, cousins, 1500 * time.Millisecond},
		{"a cousin has no fraction", http.Header{"Retry-After-Ms": {"1.5"}}, cousins, 0},
		{"a cousin saturates", http.Header{"Retry-After-Ms": {"99999999999999999999"}}, cousins, forever},
		{"an exhausted quota", http.Header{"Ratelimit": {`"default";r=0;t=30`}}, nil, 30 * time.Second},
		{"the slowest of the exhausted", http.Header{"Ratelimit": {`"a";r=0;t=3, "b";r=0;t=5, "c";r=1;t=9`}}, nil, 5 * time.Second},
		{"a quota that is left asks for nothing", http.Header{"Ratelimit": {`"default";r=50;t=30`}}, nil, 0},
		{"Retry-After wins over a quota", http.Header{"Retry-After": {"2"}, "Ratelimit": {`"default";r=0;t=30`}}, nil, 2 * time.Second},
		{"even if it says zero", http.Header{"Retry-After": {"0"}, "Ratelimit": {`"default";r=0;t=30`}}, nil, 0},
		{"a cousin wins too", http.Header{"Retry-After-Ms": {"2"}, "Ratelimit": {`"default";r=0;t=30`}}, cousins, 2 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := wire.ServerWait(c.headers, now, c.cousins...); d != c.want {
				t.Errorf("got %v, want %v", d, c.want)
			}
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{
		"120", "0", " 120 ", "-5", "+3", "1e3", "120junk", "", "NaN", "1.5", "99999999999999999999",
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
	} {
		f.Add(v, "1", int64(0))
	}
	f.Fuzz(func(t *testing.T, a, b string, unix int64) {
		at := time.Unix(unix, 0)
		d, ok := wire.RetryAfter([]string{a, b}, at)
		if d < 0 || ok != (d > 0) {
			t.Fatalf("got %v, %v", d, ok)
		}
		for _, v := range []string{a, b} {
			if one, _ := wire.RetryAfter([]string{v}, at); one > d {
				t.Fatalf("%q alone is longer: %v than %v", v, one, d)
			}
		}
		if m, ok := wire.Millis([]string{a}); m < 0 || ok != (m > 0) {
			t.Fatalf("got %v, %v", m, ok)
		}
	})
}
