package httpmw_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// What of a target only HTTP needs comes into force with the policies.
func TestATransportTakesAllOfATargetThatIsApplied(t *testing.T) {
	var got http.Header
	base := roundTripper(func(req *http.Request) (*http.Response, error) {
		got = req.Header
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	tr := must(httpmw.NewTransport(base, middleware.Standard("a")))
	post := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req := asking(t, "http://a/").WithContext(ctx)
		req.Method = http.MethodPost
		if _, err := tr.RoundTrip(req); err != nil {
			t.Fatal(err)
		}
	}
	post()
	if len(got) != 0 {
		t.Fatalf("sent %v", got)
	}
	next := middleware.Internal("a")
	next.Idempotency = &idempotency.Config{Generate: true, Header: "X-Key"}
	if err := tr.Pipelines().Apply(next); err != nil {
		t.Fatal(err)
	}
	post()
	if got.Get("X-Key") == "" || got.Get(deadline.DefaultHeader) == "" {
		t.Errorf("sent %v, want a key and the deadline", got)
	}
}

func TestAPostToAnIdempotentTargetIsRepeated(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		base := new(failing)
		tr := must(httpmw.NewTransport(base, attempting("a", 3, idempotent)))
		want := map[bool]int64{false: 1, true: 3}[idempotent]
		if n := attempts(t, tr, base, http.MethodPost, "http://a/"); n != want {
			t.Errorf("idempotent %v: %d requests, want %d", idempotent, n, want)
		}
	}
}
