package idempotencytest_test

import (
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/idempotencytest"
)

func memory(t *testing.T, keys int) idempotency.Store {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{MaxRecords: keys})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestMemoryConforms(t *testing.T) {
	open := func(t *testing.T) idempotency.Store { return memory(t, 0) }
	idempotencytest.Run(t, open, idempotencytest.Options{Each: synctest.Test, Full: memory})
}
