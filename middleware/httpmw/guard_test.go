package httpmw_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// guarding is a service that does its work once a key.
func guarding(t *testing.T, c idempotency.GuardConfig, work func(context.Context) (idempotency.Answer, error)) http.HandlerFunc {
	guard := must(idempotency.NewGuard(c, must(idempotency.NewMemory(idempotency.MemoryConfig{}))))
	return func(w http.ResponseWriter, req *http.Request) {
		key, err := idempotency.ParseFields(req.Header.Values("Idempotency-Key"))
		if err != nil {
			t.Errorf("the key: %v", err)
		}
		_, fingerprint, err := guard.ReadBody(req.Body, req.Method, req.URL.Path)
		if err != nil {
			t.Errorf("the body: %v", err)
		}
		answer, replayed, err := guard.Run(req.Context(), idempotency.Request{Key: key, Fingerprint: fingerprint}, work)
		if refusal, ok := errors.AsType[*idempotency.Error](err); ok {
			if refusal.RetryAfter > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refusal.RetryAfter.Seconds()))))
			}
			w.WriteHeader(refusal.HTTPStatus())
			return
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if replayed {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		_, _ = w.Write(answer.Data)
	}
}

// Acceptance case C57.
func TestC57_ARetryOfAKeyedPostGetsTheAnswerOfTheFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		config idempotency.GuardConfig
		wait   time.Duration // that the second request is told
	}{
		{"the second request waits", idempotency.GuardConfig{}, 0},
		{"the second request is told to come back", idempotency.GuardConfig{MaxWait: idempotency.NoWait}, time.Second},
	} {
		for _, p := range protocols {
			t.Run(c.name+" over "+p.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var charged atomic.Int64
					b := new(network).serve(t, "x.test", p.two, guarding(t, c.config, func(context.Context) (idempotency.Answer, error) {
						n := charged.Add(1)
						time.Sleep(3 * time.Second) // longer than the client's attempt may take
						return idempotency.Answer{Data: []byte("charge " + strconv.FormatInt(n, 10))}, nil
					}))
					target := middleware.Standard("payments")
					target.Timeout = &timeout.Config{After: 2 * time.Second}
					target.Retry = &retry.Config{MaxAttempts: 5}
					target.Idempotency = &idempotency.Config{Generate: true}
					var seen httpmwtest.Recorder
					client := &http.Client{Transport: transport(t, b.base(t), target, httpmw.WithObserver(&seen))}
					resp, err := client.Post(b.URL+"/charges", "text/plain", strings.NewReader("25 EUR"))
					if err != nil {
						t.Fatal(err)
					}
					if text := readAll(t, resp); text != "charge 1" || resp.Header.Get("Idempotent-Replayed") != "true" {
						t.Errorf("%s, replayed %q, %q", resp.Status, resp.Header.Get("Idempotent-Replayed"), text)
					}
					if charged.Load() != 1 {
						t.Errorf("charged %d times", charged.Load())
					}
					if told := toldToWait(seen.Events(backstay.AttemptDone)); told != c.wait {
						t.Errorf("told to wait for %v", told)
					}
				})
			})
		}
	}
}

// toldToWait returns the longest wait that an answer asked for.
func toldToWait(attempts []backstay.Event) (d time.Duration) {
	for _, e := range attempts {
		d = max(d, e.Outcome.RetryAfter)
	}
	return d
}
