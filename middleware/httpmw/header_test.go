package httpmw_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// told returns what the requests say in the header name, "" where it is absent.
func told(seen []httpmwtest.Request, name string) (values []string) {
	for _, r := range seen {
		values = append(values, r.Header.Get(name))
	}
	return values
}

// Acceptance case C47.
func TestC47_AnAttemptTellsTheLesserOfItsTimeoutAndWhatIsLeft(t *testing.T) {
	const remaining, attempt = "X-Backstay-Timeout-Ms", "X-Backstay-Attempt"
	synctest.Test(t, func(t *testing.T) {
		backend := httpmwtest.Script(httpmwtest.BlackHole(), httpmwtest.BlackHole(), httpmwtest.Status(200))
		target := middleware.Internal("test")
		target.Deadline = &deadline.Config{Total: 5 * time.Second}
		target.Retry = &retry.Config{Base: retry.NoWait}
		req := request(t, t.Context(), http.MethodGet, "http://x.test/", nil)
		req.Header.Set(remaining, "mine")
		before := maps.Clone(req.Header)
		if _, err := transport(t, backend, target).RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		seen := backend.Requests()
		if got := told(seen, remaining); !slices.Equal(got, []string{"2000", "2000", "1000"}) {
			t.Errorf("told %q", got)
		}
		if got := told(seen, attempt); !slices.Equal(got, []string{"", "2", "3"}) {
			t.Errorf("told %q", got)
		}
		if !maps.EqualFunc(req.Header, before, slices.Equal) {
			t.Errorf("the caller's headers became %v", req.Header)
		}
	})
	for _, c := range []struct {
		name   string
		left   time.Duration // of the caller's deadline; 0: none
		change func(*middleware.Target)
		want   string
	}{
		{"the caller's deadline is nearer", 1500 * time.Millisecond, nil, "1500"},
		{"the caller's deadline is farther", time.Minute, nil, "2000"},
		{"less than a millisecond", 999 * time.Microsecond, nil, "0"},
		{"no timeout, the total counts", 0, func(t *middleware.Target) { t.Timeout = nil }, "10000"},
		{"a reserve is kept back", time.Second, func(t *middleware.Target) {
			t.Deadline = &deadline.Config{Reserve: 100 * time.Millisecond}
		}, "900"},
		{"no bound at all", 0, func(t *middleware.Target) { t.Timeout, t.Deadline = nil, nil }, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := t.Context(), func() {}
			if c.left > 0 {
				ctx, cancel = context.WithTimeout(ctx, c.left)
			}
			defer cancel()
			target := middleware.Internal("test")
			if c.change != nil {
				c.change(&target)
			}
			backend := httpmwtest.Script()
			if _, err := get(t, ctx, transport(t, backend, target)); err != nil {
				t.Fatal(err)
			}
			if got := told(backend.Requests(), remaining); got[0] != c.want {
				t.Errorf("%s: told %q, want %q", c.name, got[0], c.want)
			}
		})
	}
}

// Acceptance case C47.
func TestC47_OnlyNamedHostsAreTold(t *testing.T) {
	hosts := []string{"a.test", "a.test:8080", "b.test"}
	for _, c := range []struct {
		name   string
		target middleware.Target
		told   []string
	}{
		{"a bare transport", only("test"), nil},
		{"Standard", middleware.Standard("test"), nil},
		{"Internal", middleware.Internal("test"), hosts},
		{"Reads", middleware.Reads("test"), hosts},
		{"Standard with one host", naming("a.test"), []string{"a.test", "a.test:8080"}},
		{"Standard with a host in other letters", naming("A.Test"), []string{"a.test", "a.test:8080"}},
		{"Standard with a port", naming("a.test:8080", "c.test"), []string{"a.test:8080"}},
		{"Standard with all", naming("c.test", "*"), hosts},
	} {
		backend := httpmwtest.Loop(httpmwtest.Status(503), httpmwtest.Status(200))
		target := c.target
		if target.Retry != nil {
			target.Retry = &retry.Config{Base: retry.NoWait}
		}
		tr := transport(t, backend, target)
		for _, host := range hosts {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			resp, err := tr.RoundTrip(request(t, ctx, http.MethodGet, "http://"+host+"/", nil))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			cancel()
		}
		for _, r := range backend.Requests() {
			_, left := r.Header["X-Backstay-Timeout-Ms"]
			_, attempt := r.Header["X-Backstay-Attempt"]
			want := slices.Contains(c.told, r.URL.Host)
			if again := retry.Attempt(r.Context()) > 1; left != want || attempt != (want && again) {
				t.Errorf("%s tells %s: %v", c.name, r.URL.Host, r.Header)
			}
		}
	}
}

// naming returns Standard for a target of which the hosts are told.
func naming(hosts ...string) middleware.Target {
	t := middleware.Standard("test")
	t.Propagate.Hosts = hosts
	return t
}

// Acceptance case C47.
func TestC47_EveryCodecKeeps99PercentOfTheTime(t *testing.T) {
	for _, header := range deadline.CodecNames() {
		for _, d := range []time.Duration{1900 * time.Millisecond, 119 * time.Second, 90 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				target := middleware.Internal("test")
				target.Propagate.Header = header
				target.Deadline = &deadline.Config{Total: deadline.NoTotal}
				target.Timeout = &timeout.Config{After: d}
				backend := httpmwtest.Script()
				if _, err := get(t, t.Context(), transport(t, backend, target)); err != nil {
					t.Fatal(err)
				}
				codec, _ := deadline.CodecNamed(header)
				value := backend.Requests()[0].Header.Get(header)
				if left, err := codec.Decode(value, time.Now()); err != nil || left < d*99/100 || left > d {
					t.Errorf("%s: %v is told as %q, which is %v, %v", header, d, value, left, err)
				}
			})
		}
	}
}

func TestHedgedCopiesTellWhatIsLeftToEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := middleware.Internal("test")
		target.Deadline, target.Timeout = &deadline.Config{Total: time.Second}, nil
		target.Hedge = &hedge.Config{Delay: 300 * time.Millisecond}
		backend := httpmwtest.Script(httpmwtest.BlackHole(), httpmwtest.Status(200))
		if _, err := get(t, t.Context(), transport(t, backend, target)); err != nil {
			t.Fatal(err)
		}
		got := told(backend.Requests(), "X-Backstay-Timeout-Ms")
		if first, _ := strconv.Atoi(got[0]); first != 1000 || got[1] != "700" {
			t.Errorf("told %q", got)
		}
	})
}
