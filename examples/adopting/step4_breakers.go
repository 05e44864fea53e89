package adopting

import (
	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// withBreakers is what step 4 adds to the target.
func withBreakers(t middleware.Target) middleware.Target {
	t.Breaker = &breaker.Config{}
	t.Bulkhead = &bulkhead.Config{Limit: 64}
	return t
}

// onlyCount has the breaker of a host count, and never open.
func onlyCount(transport *httpmw.Transport, host string) *breaker.Breaker {
	b := transport.Pipelines().Get(host, backstay.Now()).Breaker()
	b.MetricsOnly()
	return b
}

// wouldOpen says what it would do if it were let.
func wouldOpen(b *breaker.Breaker) (bool, backstay.Reason) { return b.Trip(b.Counts()) }
