package idempotency_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/idempotency"
)

func TestAStoreThatPanicsDoesNotCostAnAnswerThatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: newMemory(t), complete: func(context.Context) error { panic("boom") }}
		guard := guardOver(t, store, idempotency.GuardConfig{})
		got, _, err := guard.Run(t.Context(), request("k", "body"), answering("answer"))
		if err != nil || string(got.Data) != "answer" {
			t.Errorf("got %q, %v", got.Data, err)
		}
	})
}
