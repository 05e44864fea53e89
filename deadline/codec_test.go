package deadline_test

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/deadline"
)

// longest is what does not fit becomes.
const longest = time.Duration(math.MaxInt64)

// sent is a moment on a whole millisecond.
var sent = time.Date(2026, time.February, 3, 4, 5, 6, 789_000_000, time.UTC)

// codecs are all there are.
func codecs() []deadline.Codec {
	return []deadline.Codec{
		deadline.BackstayTimeout(), deadline.GRPCTimeout(), deadline.ConnectTimeout(), deadline.EnvoyTimeout(),
		deadline.EpochMillis("X-Deadline-Ms", 0), deadline.RFC3339("X-Deadline", 0),
	}
}

func TestEachCodecWritesItsForm(t *testing.T) {
	for _, c := range []struct {
		codec         deadline.Codec
		name          string
		left, expired string // 1.5 s, and a second too late
	}{
		{deadline.BackstayTimeout(), "X-Backstay-Timeout-Ms", "1500", "0"},
		{deadline.GRPCTimeout(), "Grpc-Timeout", "1500000u", "0n"},
		{deadline.ConnectTimeout(), "Connect-Timeout-Ms", "1500", "0"},
		{deadline.EnvoyTimeout(), "X-Envoy-Expected-Rq-Timeout-Ms", "1500", "1"},
		{deadline.EpochMillis("x-mine", time.Hour), "x-mine", "1770091508289", "1770091505789"},
		{deadline.RFC3339("x-mine", time.Hour), "x-mine", "2026-02-03T04:05:08.289Z", "2026-02-03T04:05:05.789Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.codec.Name(); got != c.name {
				t.Errorf("its header is %q, want %q", got, c.name)
			}
			if got := c.codec.Encode(1500*time.Millisecond, sent); got != c.left {
				t.Errorf("1.5 s is written as %q, want %q", got, c.left)
			}
			if got := c.codec.Encode(-time.Second, sent); got != c.expired {
				t.Errorf("too late is written as %q, want %q", got, c.expired)
			}
		})
	}
}

func TestAbsoluteCodecsAllowForSkew(t *testing.T) {
	value := deadline.RFC3339("", 0).Encode(time.Second, sent)
	for _, c := range []struct {
		skew, later, want time.Duration
	}{
		{0, 0, time.Second},
		{0, 3 * time.Second, -2 * time.Second},
		{2 * time.Second, 0, 3 * time.Second},
		{2 * time.Second, 2500 * time.Millisecond, 500 * time.Millisecond},
		{2 * time.Second, 4 * time.Second, -time.Second},
	} {
		got, err := deadline.RFC3339("", c.skew).Decode(value, sent.Add(c.later))
		if err != nil || got != c.want {
			t.Errorf("skew %v, %v later: %v, %v, want %v", c.skew, c.later, got, err, c.want)
		}
	}
}

func TestCodecsAreFoundByTheirHeader(t *testing.T) {
	names := deadline.CodecNames()
	want := []string{deadline.DefaultHeader, "grpc-timeout", "connect-timeout-ms", "x-envoy-expected-rq-timeout-ms"}
	if !slices.Equal(names, want) {
		t.Errorf("the names are %q, want %q", names, want)
	}
	for i, name := range names {
		for _, spelled := range []string{name, http.CanonicalHeaderKey(name), strings.ToUpper(name)} {
			if c, ok := deadline.CodecNamed(spelled); !ok || c != codecs()[i] {
				t.Errorf("%q finds %v, %v", spelled, c, ok)
			}
		}
	}
	for _, name := range []string{"", "x-else", "grpc-timeout "} {
		if c, ok := deadline.CodecNamed(name); ok || c != nil {
			t.Errorf("%q finds %v", name, c)
		}
	}
}

// What every codec promises: reading never panics and, where it fails, reads
// nothing; what is written can be read, is not longer than what was left by
// more than a hundredth or its unit, and keeps 99 % of it.
func FuzzCodecs(f *testing.F) {
	for _, v := range []string{
		"1S", "100m", "99999999H", "0n", "100000000n", "1 S", "1500000u", "0", "9999999999", "10000000000", "-1", "", "1e3",
		"1770091508289", "1770091508", "2026-02-03T04:05:08.289Z", "2026-02-03T04:05:08+23:59",
	} {
		f.Add(v, int64(119*time.Second))
	}
	f.Fuzz(func(t *testing.T, value string, n int64) {
		left := time.Duration(n)
		for _, c := range codecs() {
			if d, err := c.Decode(value, sent); err != nil && d != 0 {
				t.Fatalf("%s: %q was read as %v beside %v", c.Name(), value, d, err)
			}
			got, err := c.Decode(c.Encode(left, sent), sent)
			most := max(left, 0)
			if left <= time.Millisecond {
				most = time.Millisecond // what Envoy is told instead of nothing
			}
			if err != nil || got > most+most/100 {
				t.Fatalf("%s: %v came back as %v, %v", c.Name(), left, got, err)
			}
			if within := left < 100*24*time.Hour; within && got < left-left/100-time.Millisecond {
				t.Fatalf("%s: %v came back as %v only", c.Name(), left, got)
			}
		}
	})
}
