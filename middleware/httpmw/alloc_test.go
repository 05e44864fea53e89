package httpmw_test

import (
	"context"
	"net/http"
	"testing"
	"time"

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

func TestWhatACallThatGoesWellAllocates(t *testing.T) {
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	late, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	patient := func(of func(string) middleware.Target) middleware.Target {
		target := of("test")
		target.Timeout = &timeout.Config{After: 2 * time.Minute}
		target.Deadline = nil
		return target
	}
	const header = 5
	for _, c := range []struct {
		name   string
		base   http.RoundTripper
		target middleware.Target
		ctx    context.Context
		limit  float64
	}{
		{"no policy", still(), only("test"), context.Background(), 0},
		{"the caller's deadline is earlier than the timeout", still(), patient(middleware.Standard), soon, 0},
		{"the same, and the base transport waits", waits(), patient(middleware.Standard), soon, 0},
		{"no deadline of the caller's", still(), middleware.Standard("test"), context.Background(), 6},
		{"the same, and the base transport waits", waits(), middleware.Standard("test"), context.Background(), 6},
		{"a deadline later than the timeout", still(), middleware.Standard("test"), late, 6},
		{"the same, and the base transport waits", waits(), middleware.Standard("test"), late, 6},
		{"a header, with an earlier deadline", still(), patient(middleware.Internal), soon, header},
		{"a header, and the base transport waits", waits(), middleware.Internal("test"), late, 6 + header},
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
