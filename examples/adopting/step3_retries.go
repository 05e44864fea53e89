package adopting

import (
	"context"
	"net/http"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
)

// byHand is what step 3 takes out.
func byHand(ctx context.Context, client *http.Client, req *http.Request) (resp *http.Response, err error) {
	for attempt := range 3 {
		resp, err = client.Do(req.Clone(ctx))
		if err == nil && resp.StatusCode < http.StatusInternalServerError {
			return resp, nil
		}
		if err == nil && attempt < 2 {
			_ = resp.Body.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return resp, err
}

// withRetries is what it puts in, for all calls of the target.
func withRetries(t middleware.Target) middleware.Target {
	t.Retry = &retry.Config{} // 3 attempts, at most 10 % more load
	return t
}
