package kafka_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// Two processes append to a log and read it: each hears of its own entries from
// their acknowledgements, and fetches those of the other.
func TestAllWhoReadALogReadTheSame(t *testing.T) {
	for name, start := range map[string]func(*testing.T) []string{
		"kfake": func(t *testing.T) []string { return brokers.StartFake(t) },
		"Kafka": func(t *testing.T) []string { return brokers.Shared(t) },
	} {
		t.Run(name, func(t *testing.T) {
			at := start(t)
			c := config(at, fmt.Sprintf("audience-%d", rand.Uint64()))
			logs := []*kafka.Log{opened(t, c), opened(t, c)}
			const each = 1000
			var work sync.WaitGroup
			var all []*reading
			for _, l := range logs {
				all = append(all, read(t, l, 0), read(t, l, 0))
				work.Go(func() { appendMany(t, l, each) })
			}
			for _, r := range all {
				r.until(each * len(logs))
			}
			work.Wait()
			for _, r := range all[1:] {
				if !slices.EqualFunc(r.all, all[0].all, same) {
					t.Error("two have read different logs")
				}
			}
			for i, e := range all[0].all {
				if i > 0 && e.Offset <= all[0].all[i-1].Offset {
					t.Fatalf("after %d comes %d", all[0].all[i-1].Offset, e.Offset)
				}
			}
		})
	}
}

func same(x, y journal.Entry) bool { return x.Place == y.Place && bytes.Equal(x.Data, y.Data) }

// appendMany appends entries, one or a few at a time.
func appendMany(t *testing.T, l *kafka.Log, n int) {
	t.Helper()
	for n > 0 {
		some := min(n, 1+rand.IntN(3))
		var under sync.WaitGroup
		for range some {
			under.Add(1)
			l.Append(a, fmt.Appendf(nil, "%p %d", l, n), func(_ journal.Place, err error) {
				if err != nil {
					t.Error(err)
				}
				under.Done()
			})
			n--
		}
		under.Wait()
	}
}
