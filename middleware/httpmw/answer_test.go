package httpmw_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/timeout"
)

func TestABreakerThatOpensInTheMiddleOfACallLeavesTheServersAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := httpmwtest.Script(httpmwtest.Status(500).Body("db is gone"))
		target := retries()
		target.Retry.MaxAttempts = 5
		target.Breaker = &breaker.Config{Consecutive: 3}
		resp, err := transport(t, backend, target).RoundTrip(request(t, context.Background(), http.MethodGet, "http://x.test/", nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, resp); resp.StatusCode != 500 || got != "db is gone" {
			t.Errorf("%d %q", resp.StatusCode, got)
		}
		backend.Want(t, 3)
	})
}

func TestAnAttemptThatReachesItsLimitIsToldAsTransient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen httpmwtest.Recorder
		c := httpmwtest.Client(t, httpmwtest.Script(httpmwtest.Hang(3*time.Second), httpmwtest.Status(200)),
			middleware.Standard("p"), httpmw.WithObserver(&seen))
		resp, err := c.Get("http://x.test/")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		done := seen.Events(backstay.AttemptDone)
		if len(done) != 2 || done[0].Outcome.Class != backstay.Transient || !errors.Is(done[0].Err, timeout.ErrTimeout) {
			t.Errorf("told %+v", done)
		}
	})
}

func TestAKeyThatCannotBeSentIsARefusal(t *testing.T) {
	backend := httpmwtest.Script()
	ctx := idempotency.WithKey(context.Background(), "bad\nkey")
	_, err := transport(t, backend, middleware.Standard("p")).RoundTrip(request(t, ctx, http.MethodPost, "http://x.test/", nil))
	if !errors.Is(err, backstay.ErrRejected) || !errors.Is(err, idempotency.ErrKeyInvalid) {
		t.Errorf("error %v", err)
	}
	backend.Want(t, 0)
}
