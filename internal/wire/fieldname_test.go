package wire_test

import (
	"testing"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestAFieldNameServesHTTPAndGRPC(t *testing.T) {
	for name, want := range map[string]bool{
		"Idempotency-Key": true, "x_tenant.id": true, "k9": true, "-bin.": true,
		"": false, "trace-bin": false, "Trace-BIN": false, "a b": false, "a:b": false, "grün": false, "a\n": false, "a~b": false,
	} {
		if got := wire.IsFieldName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
