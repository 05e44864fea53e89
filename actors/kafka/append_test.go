package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// slow are topics whose description takes a minute for one of them.
type slow struct {
	*cluster
	topic string
}

func (s slow) DescribeTopics(names []string) ([]*sarama.TopicMetadata, error) {
	if slices.Contains(names, s.topic) {
		time.Sleep(time.Minute)
	}
	return s.cluster.DescribeTopics(names)
}

// appendingTo runs a test of a log whose types "a" and "b" were not looked at,
// which for "a" takes minutes. What it sends is answered at once, and told in
// its order.
func appendingTo(t *testing.T, test func(t *testing.T, l *Log, h *history)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := Config{App: "app", Replication: 1, Brokers: []string{"x"}}.withDefaults()
		there := &cluster{topics: make(map[string]*sarama.TopicDetail)}
		made := &desk{config: &c, admin: there}
		for _, name := range []string{"a", "b"} {
			for _, topic := range c.ofType(name, 2) {
				if err := made.make(t.Context(), topic); err != nil {
					t.Fatal(err)
				}
			}
		}
		l := &Log{config: c, counts: make(map[string]uint32), fetcher: &fetcher{audiences: make(map[partitionKey]*audience)}}
		l.desk = &desk{config: &l.config, admin: slow{there, "app.a"}}
		appender, b := produceBy(&l.vitals)
		l.appender = appender
		l.appender.after = l.fetcher.hear
		l.ctx, l.end = context.WithCancel(t.Context())
		h := &history{ends: make(map[string]error)}
		go func() {
			for m := range b.taken {
				data, _ := m.Value.Encode()
				h.note(func() {
					m.Offset, m.Timestamp = int64(len(h.sent)), time.UnixMilli(7)
					h.sent = append(h.sent, string(data))
				})
				b.answer(m, nil)
			}
		}()
		test(t, l, h)
		l.appender.close()
		l.end()
		l.work.Wait()
		time.Sleep(time.Minute) // for what was asked of the brokers
	})
}

// history is what was sent, in its order, and how what was appended has ended.
type history struct {
	mu   sync.Mutex
	sent []string
	ends map[string]error
}

func (h *history) note(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *history) append(l *Log, p journal.Partition, data string) {
	l.Append(p, []byte(data), func(_ journal.Place, err error) { h.note(func() { h.ends[data] = err }) })
}

// have reports what was sent, when all have come to rest.
func (h *history) have(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	h.note(func() {
		if !slices.Equal(h.sent, want) {
			t.Errorf("sent %v", h.sent)
		}
	})
}

// ended reports how an append has ended.
func (h *history) ended(t *testing.T, data string, want error) {
	t.Helper()
	synctest.Wait()
	h.note(func() {
		if err, is := h.ends[data]; !is || !errors.Is(err, want) {
			t.Errorf("%s: %v", data, err)
		}
	})
}

func TestASlowDescriptionHoldsUpNoOtherAppend(t *testing.T) {
	appendingTo(t, func(t *testing.T, l *Log, h *history) {
		began := time.Now()
		unknown := journal.Partition{Type: "a", Index: 1}
		h.append(l, unknown, "a0")
		h.append(l, journal.Partition{Type: "b"}, "b0")
		h.have(t, "b0")
		if took := time.Since(began); took != 0 {
			t.Fatalf("it took %v", took)
		}
		h.append(l, journal.Partition{Type: "b"}, "b1")
		h.append(l, unknown, "a1")
		h.append(l, journal.Partition{Type: "a", Index: 2}, "nowhere")
		time.Sleep(3 * time.Minute)
		h.have(t, "b0", "b1", "a0", "a1")
		h.append(l, unknown, "a2")
		h.have(t, "b0", "b1", "a0", "a1", "a2")
		h.ended(t, "nowhere", journal.ErrNoType)
		if l.pending.some.Load() != 0 || len(l.pending.byType) != 0 || l.pending.bytes != 0 {
			t.Errorf("%+v is left", l.pending.byType)
		}
	})
}

// Somebody else may look at the type too, and be done earlier.
func TestWhatWasAppendedBeforeATypeWasKnownIsSentFirst(t *testing.T) {
	appendingTo(t, func(t *testing.T, l *Log, h *history) {
		unknown := journal.Partition{Type: "a"}
		h.append(l, unknown, "a0")
		l.mu.Lock()
		l.counts["a"] = 2
		l.mu.Unlock()
		h.append(l, unknown, "a1")
		time.Sleep(3 * time.Minute)
		h.have(t, "a0", "a1")
	})
}

func TestAppendsThatWaitForADescriptionAreBounded(t *testing.T) {
	appendingTo(t, func(t *testing.T, l *Log, h *history) {
		l.config.QueueBytes = 4
		h.append(l, journal.Partition{Type: "a"}, "abc")
		if records, bytes := l.pending.waiting(); records != 1 || bytes != 3 {
			t.Errorf("%d of %d bytes wait", records, bytes)
		}
		h.append(l, journal.Partition{Type: "a"}, "de")
		h.ended(t, "de", ErrQueueFull)
	})
}

func TestAppendsThatWaitForADescriptionEndWithTheLog(t *testing.T) {
	appendingTo(t, func(t *testing.T, l *Log, h *history) {
		h.append(l, journal.Partition{Type: "a"}, "a0")
		synctest.Wait()
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		l.end()
		l.work.Wait()
		h.append(l, journal.Partition{Type: "a"}, "a1")
		h.ended(t, "a0", journal.ErrClosed)
		h.ended(t, "a1", journal.ErrClosed)
	})
}
