package bulkhead_test

import (
	"testing"

	"github.com/backstay-go/backstay/bulkhead"
)

func TestTheLimitOfNoBulkheadCannotBeSet(t *testing.T) {
	var none *bulkhead.Bulkhead
	if err := none.SetLimit(5); err == nil {
		t.Error("no error")
	}
}
