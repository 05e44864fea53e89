package httpmw_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// still is a base transport that answers without allocating.
func still() http.RoundTripper {
	resp := answer(nil, http.StatusOK)
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp.Request = req
		return resp, nil
	})
}

// waits is still that waits on the context first, as net/http does.
func waits() http.RoundTripper {
	inner := still()
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		default:
			return inner.RoundTrip(req)
		}
	})
}

// unhurried returns a preset of which a caller's deadline of a minute is the
// nearest limit, however slow the machine.
func unhurried(of func(string) middleware.Target) middleware.Target {
	target := of("test")
	target.Timeout = &timeout.Config{After: 2 * time.Minute}
	target.Deadline = &deadline.Config{Total: 10 * time.Minute}
	return target
}

// What a limit costs: the contexts of the total and of the attempt, which are
// one allocation, and the request under them; where the base transport waits on
// its context, also the channel, the timer and what the timer calls; and where
// the caller's context can end, the hook on it. A header costs the copy of the
// map, the value and its text, and that of the request if there is none yet.
const (
	limits = 2
	armed  = limits + 3
	hooked = armed + 2
	header = 4
)

func TestWhatACallThatGoesWellAllocates(t *testing.T) {
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	late, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, c := range []struct {
		name   string
		base   http.RoundTripper
		target middleware.Target
		ctx    context.Context
		limit  float64
	}{
		{"no policy", still(), only("test"), context.Background(), 0},
		{"the caller's deadline comes first", still(), unhurried(middleware.Standard), soon, 0},
		{"the caller's deadline comes first, and the base transport waits", waits(), unhurried(middleware.Standard), soon, 0},
		{"the caller has no deadline", still(), unhurried(middleware.Standard), context.Background(), limits},
		{"the caller has no deadline, and the base transport waits", waits(), unhurried(middleware.Standard), context.Background(), armed},
		{"the caller's deadline comes last", still(), unhurried(middleware.Standard), late, limits},
		{"the caller's deadline comes last, and the base transport waits", waits(), unhurried(middleware.Standard), late, hooked},
		{"the caller's deadline comes first, and is told", still(), unhurried(middleware.Internal), soon, 1 + header},
		{"the attempt's timeout comes first, and is told", still(), unhurried(middleware.Internal), late, limits + header},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := transport(t, c.base, c.target)
			req := request(t, c.ctx, http.MethodGet, "http://x.test/", nil)
			testkit.Allocs(t, c.limit, func() {
				if _, err := tr.RoundTrip(req); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
