package keyed_test

import (
	"fmt"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
)

func hosts(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("host-%05d.internal:8080", i)
	}
	return all
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("%d keys", n), func(b *testing.B) {
			m := keyed.New(keyed.Config{}, func(string) *int { return new(int) }, keyed.Hooks[*int]{})
			keys := hosts(n)
			now := backstay.Now()
			for _, k := range keys {
				m.Get(k, now)
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					m.Get(keys[i*7919%n], now)
				}
			})
		})
	}
}

func BenchmarkGetOfNewKeys(b *testing.B) {
	m := keyed.New(keyed.Config{}, func(string) *int { return nil }, keyed.Hooks[*int]{})
	keys := hosts(1_000_000)
	now := backstay.Now()
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		m.Get(keys[i%len(keys)], now)
	}
}
