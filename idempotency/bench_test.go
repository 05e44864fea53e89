package idempotency_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

func BenchmarkNewKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = idempotency.NewKey()
	}
}

func BenchmarkDerive(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = idempotency.Derive("8e03978e-40d5-43dd-bc93-6894a57f9324", "charge", "1")
	}
}

func BenchmarkEnsure(b *testing.B) {
	off, _ := idempotency.New(idempotency.Config{})
	on, _ := idempotency.New(idempotency.Config{Generate: true})
	for name, policy := range map[string]*idempotency.Policy{"off": off, "on": on} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = idempotency.Ensure(ctx, policy)
			}
		})
	}
}

// The retention is short, so that the store does not grow with b.N.
func BenchmarkMemoryBeginComplete(b *testing.B) {
	store, ctx := newMemory(b), b.Context()
	record := idempotency.Record{Answer: []byte("answer")}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		claim := idempotency.Claim{Key: strconv.Itoa(n), Owner: idempotency.Token{1}}
		_, _ = store.Begin(ctx, claim, idempotency.Fingerprint{}, time.Second)
		_ = store.Complete(ctx, claim, record, time.Microsecond)
	}
}

func BenchmarkMemoryBeginCompleteParallel(b *testing.B) {
	store, ctx := newMemory(b), b.Context()
	record := idempotency.Record{Answer: []byte("answer")}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		prefix := idempotency.NewKey()
		for n := 0; pb.Next(); n++ {
			claim := idempotency.Claim{Key: prefix + strconv.Itoa(n), Owner: idempotency.Token{1}}
			_, _ = store.Begin(ctx, claim, idempotency.Fingerprint{}, time.Second)
			_ = store.Complete(ctx, claim, record, time.Microsecond)
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	answer := idempotency.Answer{Data: []byte("answer")}
	work := func(context.Context) (idempotency.Answer, error) { return answer, nil }
	config := idempotency.GuardConfig{Lease: 10 * time.Millisecond, Retention: 10 * time.Millisecond}
	b.Run("first", func(b *testing.B) {
		guard, _ := idempotency.NewGuard(config, newMemory(b))
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			_, _, _ = guard.Run(b.Context(), idempotency.Request{Key: strconv.Itoa(n)}, work)
		}
	})
	b.Run("replay", func(b *testing.B) {
		guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, newMemory(b))
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = guard.Run(b.Context(), idempotency.Request{Key: "k"}, work)
		}
	})
	b.Run("without a key", func(b *testing.B) {
		guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, newMemory(b))
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = guard.Run(b.Context(), idempotency.Request{}, work)
		}
	})
}
