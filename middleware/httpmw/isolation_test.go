package httpmw_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/timeout"
)

// Once a call has returned and its body is closed, its request is the caller's
// again: what runs on must have one of its own. The race detector is the judge.
func TestACallerMayChangeItsRequestWhileSomethingRunsOn(t *testing.T) {
	hedging := hedged(hedge.Config{Delay: time.Second, Budget: hedge.BudgetConfig{Ratio: 1}})
	abandoning := only("test")
	abandoning.Timeout = &timeout.Config{After: time.Second, Abandon: true}
	for _, c := range []struct {
		name    string
		target  middleware.Target
		options []httpmw.Option
		script  []int // of the first attempts; the last one runs on
	}{
		{"a late copy", hedging, nil, []int{200}},
		{"an abandoned attempt", abandoning, nil, nil},
		{"a refresh", only("test"), []httpmw.Option{httpmw.WithStaleCache(httpmw.StaleCache{Refresh: true})}, []int{200, 503}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent atomic.Int64
				done := make(chan struct{})
				tr := transport(t, roundTripper(func(req *http.Request) (*http.Response, error) {
					if n := int(sent.Add(1)); n <= len(c.script) {
						time.Sleep(2 * time.Second)
						return answer(req, c.script[n-1]), nil
					}
					time.Sleep(time.Minute)
					if req.Header.Get("X-Mine") != "1" || req.URL.Path != "/mine" {
						t.Errorf("it saw %v, %v", req.Header, req.URL)
					}
					close(done)
					return nil, context.Canceled
				}), c.target, c.options...)
				for range max(len(c.script), 1) {
					req := request(t, context.Background(), http.MethodGet, "http://x.test/mine", nil)
					req.Header.Set("X-Mine", "1")
					if resp, err := tr.RoundTrip(req); err == nil {
						readAll(t, resp)
					}
					req.Header.Set("X-Mine", "2")
					req.URL.Path = "/another"
				}
				<-done
			})
		})
	}
}
