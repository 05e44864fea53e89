package kafka

import (
	"slices"
	"sync"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// audience are the readers of a log in this process. They hear of what this
// process appends, owners' steps above all, from the acknowledgement: where that
// has the very next offset, nothing can have come between, and nothing need be
// fetched. What others append is fetched.
type audience struct {
	mu      sync.Mutex
	readers []*reader
}

// attend makes a reader one of its partition's audience.
func (f *fetcher) attend(r *reader) {
	key := partitionKey{r.feed.topic, r.feed.partition}
	f.mu.Lock()
	a := f.audiences[key]
	if a == nil {
		a = new(audience)
		f.audiences[key] = a
	}
	f.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.readers = append(a.present(), r)
}

// present are the readers that are not closed. mu is held.
func (a *audience) present() []*reader {
	return slices.DeleteFunc(a.readers, func(r *reader) bool { return r.feed.closed.Load() })
}

// hear is told how a record of this process has ended, and tells who reads it.
func (f *fetcher) hear(m *sarama.ProducerMessage, at journal.Place, err error) {
	f.mu.Lock()
	a := f.audiences[partitionKey{m.Topic, m.Partition}]
	f.mu.Unlock()
	known := true
	if data, ok := m.Value.(sarama.ByteEncoder); ok && a != nil && err == nil {
		known = at.At != 0 && a.hear(journal.Entry{Place: at, Data: data})
	}
	f.stir(known)
}

// hear tells the readers of an entry, and reports whether all of them have it now.
func (a *audience) hear(e journal.Entry) (known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.readers, known = a.present(), true
	for _, r := range a.readers {
		known = r.hear(e) && known
	}
	return known
}

// hear takes an entry, if it is the next one and there is room for it, and reports
// whether the reader has it now.
func (r *reader) hear(e journal.Entry) (known bool) {
	d := r.feed
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Offset == d.next && r.squeeze(e) {
		d.next++
	}
	return e.Offset < d.next
}
