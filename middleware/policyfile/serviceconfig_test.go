package policyfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

const serviceConfig = `{
  "loadBalancingConfig": [{"round_robin": {}}],
  "methodConfig": [
    {
      "name": [{"service": "inventory.v1.Stock", "method": "Get"}, {"service": "inventory.v1.Prices"}],
      "waitForReady": true,
      "timeout": "1.5s",
      "retryPolicy": {
        "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 1.5,
        "retryableStatusCodes": ["UNAVAILABLE", "ABORTED"]
      }
    },
    {
      "name": [{"service": "search.v1.Search"}],
      "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.05s", "nonFatalStatusCodes": ["INTERNAL"]}
    }
  ],
  "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.2}
}`

func TestAServiceConfigBecomesPolicies(t *testing.T) {
	p, notes, err := policyfile.ImportServiceConfig("service.json", []byte(serviceConfig))
	if err != nil {
		t.Fatal(err)
	}
	stock := p.Match(policyfile.Request{GRPC: "/inventory.v1.Prices/List"})
	if stock == nil || stock.Name != "inventory.v1.Stock/Get" {
		t.Fatalf("Prices is matched by %+v", stock)
	}
	r := stock.Retry
	if stock.Deadline.Total != 1500*time.Millisecond || r.MaxAttempts != 4 || r.Base != 100*time.Millisecond || r.Cap != time.Second || r.Multiplier != 1.5 {
		t.Errorf("got %+v and %+v", stock.Deadline, r)
	}
	if r.Budget.Ratio != 0.2 || r.Budget.Burst != 5 {
		t.Errorf("the throttling became %+v", r.Budget)
	}
	if stock.Breaker != nil || stock.Bulkhead != nil || stock.Timeout != nil {
		t.Errorf("there are policies that the document has no word for: %+v", stock)
	}
	search := p.Match(policyfile.Request{GRPC: "/search.v1.Search/Find"})
	if search.Hedge.MaxCopies != 2 || search.Hedge.Delay != 50*time.Millisecond || search.Retry != nil {
		t.Errorf("hedging became %+v", search.Hedge)
	}
	var all strings.Builder
	for _, n := range notes {
		all.WriteString(n.String() + "\n")
	}
	golden(t, "testdata/serviceconfig.golden", all.String())
}

func TestAServiceConfigThatIsNone(t *testing.T) {
	_, _, err := policyfile.ImportServiceConfig("service.json", []byte(`{"methodConfig": [{
  "name": [{"service": "a"}],
  "timeout": "100ms",
  "retryPolicy": {"maxAttempts": 1.5, "maxBackof": "1s"}
}]}`))
	e, ok := errors.AsType[*policyfile.Error](err)
	if !ok || len(e.Faults) != 3 || e.Faults[0].Line != 3 || e.Faults[2].Suggestion != "did you mean maxBackoff?" {
		t.Errorf("got %v", err)
	}
}
