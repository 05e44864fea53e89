package wire_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestSignalsBetweenLayers(t *testing.T) {
	final, unsent, overload := wire.Signals{Final: true}, wire.Signals{Unsent: true}, wire.Signals{Overload: true}
	for _, c := range []struct {
		name, header, value string
		want                wire.Signals
	}{
		{"Envoy's rate limit speaks by its presence", "x-envoy-ratelimited", "true", final},
		{"even empty", "x-envoy-ratelimited", "", final},
		{"a retry that should not be", "x-should-retry", "false", final},
		{"in any case, with spaces", "x-should-retry", " False ", final},
		{"a retry that may be", "x-should-retry", "true", wire.Signals{}},
		{"our own word", "x-backstay-retry", "never", final},
		{"our own header with another word", "x-backstay-retry", "maybe", wire.Signals{}},
		{"a pushback below zero", "grpc-retry-pushback-ms", "-1", final},
		{"a pushback that is a wait", "grpc-retry-pushback-ms", "100", wire.Signals{}},
		{"Linkerd knows it is safe", "l5d-retryable", "true", unsent},
		{"Linkerd knows it is not", "l5d-retryable", "false", wire.Signals{}},
		{"Linkerd says nothing", "l5d-retryable", "", wire.Signals{}},
		{"Envoy is overloaded", "x-envoy-overloaded", "true", overload},
		{"another header", "x-else", "never", wire.Signals{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := make(http.Header)
			h.Set(c.header, c.value)
			if got := wire.ReadSignals(h); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	h := http.Header{"X-Should-Retry": {"true", "false"}, "L5d-Retryable": {"true"}, "X-Envoy-Overloaded": {"true"}}
	if got := wire.ReadSignals(h); got != (wire.Signals{Final: true, Unsent: true, Overload: true}) {
		t.Errorf("all at once: got %+v", got)
	}
}

func TestPushback(t *testing.T) {
	for _, c := range []struct {
		name      string
		values    []string
		wait      time.Duration
		retry, ok bool
	}{
		{"none", nil, 0, false, false},
		{"at once", []string{"0"}, 0, true, true},
		{"a wait", []string{"250"}, 250 * time.Millisecond, true, true},
		{"2^31 is a number like any other", []string{"2147483648"}, 2_147_483_648 * time.Millisecond, true, true},
		{"20 digits saturate", []string{"99999999999999999999"}, forever, true, true},
		{"below zero", []string{"-1"}, 0, false, true},
		{"junk", []string{"abc"}, 0, false, true},
		{"empty", []string{""}, 0, false, true},
		{"a fraction", []string{"1.5"}, 0, false, true},
		{"twice", []string{"100", "100"}, 0, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d, retry, ok := wire.Pushback(c.values); d != c.wait || retry != c.retry || ok != c.ok {
				t.Errorf("got %v, %v, %v", d, retry, ok)
			}
		})
	}
}

func TestAttemptNumbers(t *testing.T) {
	for _, c := range []struct {
		name                string
		values              []string
		attempt, afterwards int // as the number itself, and as that of previous ones
	}{
		{"absent", nil, 1, 1},
		{"zero", []string{"0"}, 1, 1},
		{"one", []string{"1"}, 1, 2},
		{"two", []string{"2"}, 2, 3},
		{"spaces", []string{" 2 "}, 2, 3},
		{"junk", []string{"two"}, 1, 1},
		{"negative", []string{"-2"}, 1, 1},
		{"the larger of two", []string{"2", "x", "7", "3"}, 7, 8},
		{"20 digits", []string{"99999999999999999999"}, math.MaxInt32, math.MaxInt32},
	} {
		if got := wire.Attempt(c.values); got != c.attempt {
			t.Errorf("%s: attempt %d, want %d", c.name, got, c.attempt)
		}
		if got := wire.PreviousTries(c.values); got != c.afterwards {
			t.Errorf("%s: attempt %d after the previous ones, want %d", c.name, got, c.afterwards)
		}
	}
}

func TestHTTPStatusOfEachGRPCCode(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   uint32
		status int
	}{
		{"OK", 0, 200}, {"CANCELLED", 1, 499}, {"UNKNOWN", 2, 500}, {"INVALID_ARGUMENT", 3, 400},
		{"DEADLINE_EXCEEDED", 4, 504}, {"NOT_FOUND", 5, 404}, {"ALREADY_EXISTS", 6, 409},
		{"PERMISSION_DENIED", 7, 403}, {"RESOURCE_EXHAUSTED", 8, 429}, {"FAILED_PRECONDITION", 9, 400},
		{"ABORTED", 10, 409}, {"OUT_OF_RANGE", 11, 400}, {"UNIMPLEMENTED", 12, 501}, {"INTERNAL", 13, 500},
		{"UNAVAILABLE", 14, 503}, {"DATA_LOSS", 15, 500}, {"UNAUTHENTICATED", 16, 401},
		{"one that does not exist", 17, 500}, {"the largest", math.MaxUint32, 500},
	} {
		if got := wire.HTTPStatus(c.code); got != c.status {
			t.Errorf("%s: %d, want %d", c.name, got, c.status)
		}
	}
}

func FuzzNumbersOfAttempts(f *testing.F) {
	for _, v := range []string{"0", "2", "-1", "abc", "", "2147483648", "99999999999999999999"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if n := wire.Attempt([]string{v}); n < 1 || n > math.MaxInt32 {
			t.Fatalf("attempt %d", n)
		}
		if n := wire.PreviousTries([]string{v}); n < 1 || n > math.MaxInt32 {
			t.Fatalf("attempt %d", n)
		}
		d, retry, ok := wire.Pushback([]string{v})
		if !ok || d < 0 || d > 0 && !retry {
			t.Fatalf("pushback %v, %v, %v", d, retry, ok)
		}
	})
}
