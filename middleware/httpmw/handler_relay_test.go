package httpmw_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

func TestWhatAServiceBelowForbidsIsPassedUpwardOverHTTP(t *testing.T) {
	below := func(status int, retry string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if retry != "" {
				w.Header().Set("X-Should-Retry", retry)
			}
			w.WriteHeader(status)
		}
	}
	answers := func(status int) func(http.ResponseWriter, error) {
		return func(w http.ResponseWriter, _ error) { w.WriteHeader(status) }
	}
	for _, c := range []struct {
		name   string
		below  http.HandlerFunc
		open   bool
		answer func(w http.ResponseWriter, err error)
		never  bool
	}{
		{"it forbids a retry, and the handler fails", below(503, "false"), false, answers(500), true},
		{"the handler asks for patience", below(503, "false"), false, answers(429), true},
		{"the handler answers nevertheless", below(503, "false"), false, answers(200), false},
		{"the handler blames the caller", below(503, "false"), false, answers(404), false},
		{"it fails and says nothing", below(503, ""), false, answers(500), false},
		{"our own breaker is open", below(200, ""), true, answers(500), true},
		{"and the handler says so", below(200, ""), true, httpmw.WriteError, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			overBoth(t, c.below, func(t *testing.T, leaf *backend) {
				target := patient(retries())
				target.Breaker = &breaker.Config{}
				tr := transport(t, leaf.base(t), target)
				h := handler(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					resp, err := tr.RoundTrip(request(t, req.Context(), http.MethodGet, leaf.URL, nil))
					if err == nil {
						_ = resp.Body.Close()
					}
					c.answer(w, err)
				}), middleware.Server{})
				overBoth(t, h.ServeHTTP, func(t *testing.T, b *backend) {
					req := request(t, context.Background(), http.MethodGet, b.URL, nil)
					if c.open {
						ask(t, b.base(t), req)
						for _, p := range tr.Pipelines().All {
							p.Breaker().ForceOpen()
						}
					}
					got := ask(t, b.base(t), req)
					if (got.header.Get("X-Backstay-Retry") == "never") != c.never {
						t.Errorf("%d, headers %v", got.status, got.header)
					}
				})
			})
		})
	}
}
