package kafka

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// audience are the readers of a log in this process. They hear of what this
// process appends, owners' steps above all, from the acknowledgement: where that
// has the very next offset, nothing can have come between, and nothing need be
// fetched. What others append is fetched.
type audience struct {
	out  atomic.Int32 // appends of this process that have not ended
	tail atomic.Pointer[tail]

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
	r.feed.audience = a
	a.mu.Lock()
	defer a.mu.Unlock()
	a.readers = append(a.present(), r)
}

// audience is that of a partition; nil if this process has never read it.
func (f *fetcher) audience(topic string, partition int32) *audience {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.audiences[partitionKey{topic, partition}]
}

// present are the readers that are not closed. mu is held.
func (a *audience) present() []*reader {
	return slices.DeleteFunc(a.readers, func(r *reader) bool { return r.feed.closed.Load() })
}

// begin notes an append.
func (a *audience) begin() {
	if a != nil {
		a.out.Add(1)
	}
}

// end notes how an append has ended, and tells the readers.
func (a *audience) end(value sarama.Encoder, at journal.Place, err error) {
	if a == nil {
		return
	}
	data, _ := value.(sarama.ByteEncoder)
	known := err != nil || at.At != 0 && a.hear(journal.Entry{Place: at, Data: data})
	a.out.Add(-1)
	if t := a.tail.Load(); t != nil {
		t.stir(known)
	}
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
