package kafka

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
)

// tail fetches the ends of the logs that one broker leads. It ends when it has
// none; what fails goes back to catch up, where the new leader is looked for, and
// so does what is not at its end.
type tail struct {
	fetcher *fetcher
	key     tailKey
	broker  *sarama.Broker // a connection of its own
	feeds   []*feed
	owning  bool                   // there are readers of logs among them
	from    map[partitionKey]int64 // of a request

	stirred chan struct{} // holds one: a record of this process has ended
	missed  atomic.Bool   // since the last request: one that its readers do not know

	// Guarded by the fetcher's lock.
	joining []*feed
	waiting map[*feed]time.Time // that want to join, and since when they are awaited, if they are
}

type partitionKey struct {
	topic     string
	partition int32
}

// tailKey is what can be fetched together.
type tailKey struct {
	addr      string // of the broker
	committed bool
}

// brief is how long a fetch waits while somebody is about to join.
const brief = 2 * glance

// patience is how long one is awaited. It asks again every glance; but it reads
// in between, while a busy tail may fetch many times.
const patience = 100 * time.Millisecond

func newTail(f *fetcher, key tailKey, first *feed) *tail {
	return &tail{
		fetcher: f, key: key, broker: sarama.NewBroker(key.addr), joining: []*feed{first},
		from: make(map[partitionKey]int64), stirred: make(chan struct{}, 1), waiting: make(map[*feed]time.Time),
	}
}

func (t *tail) run() {
	defer func() { _ = t.broker.Close() }() // it was only read from
	for {
		t.hold()
		t.missed.Store(false)
		wait, ok := t.gather()
		switch {
		case !ok:
			return
		case len(t.feeds) == 0:
			time.Sleep(glance)
			continue
		}
		response, err := t.fetch(t.request(wait))
		if err != nil {
			t.fetcher.note(t.feeds[0], explain("reading", err))
		}
		t.hand(response, err)
	}
}

// request asks for each partition once, from where the slowest of its feeds is:
// several may read the same one, and each leaves out what it has.
func (t *tail) request(wait time.Duration) *sarama.FetchRequest {
	clear(t.from)
	request := fetchRequest(wait, t.key.committed)
	for _, d := range t.feeds {
		key := partitionKey{d.topic, d.partition}
		next := d.at()
		from, shared := t.from[key]
		if shared && from <= next {
			continue
		}
		t.from[key] = next
		request.AddBlock(d.topic, d.partition, next, fetchBytes, -1)
	}
	return request
}

// admit takes a feed in, if the tail awaits it; else it must go on reading by
// itself and come again. The fetcher's lock is held.
func (t *tail) admit(d *feed) bool {
	since, known := t.waiting[d]
	awaited := !since.IsZero()
	if awaited {
		delete(t.waiting, d)
		t.joining = append(t.joining, d)
	} else if !known {
		t.waiting[d] = time.Time{}
	}
	return awaited
}

// gather takes in those that join, lets go of those that were closed, and says
// how long the next fetch may wait: briefly, while somebody is awaited.
func (t *tail) gather() (wait time.Duration, ok bool) {
	f := t.fetcher
	f.mu.Lock()
	defer f.mu.Unlock()
	t.feeds = append(t.feeds, t.joining...)
	t.joining = nil
	t.keep(func(d *feed) bool { return !d.closed.Load() })
	t.owning = slices.ContainsFunc(t.feeds, (*feed).logs)
	wait = longPoll
	for d, since := range t.waiting {
		late := !since.IsZero() && time.Since(since) > patience
		if late || d.closed.Load() { // it did not come
			delete(t.waiting, d)
			continue
		}
		if wait = brief; since.IsZero() {
			t.waiting[d] = time.Now()
		}
	}
	if f.shut || len(t.feeds)+len(t.waiting) == 0 {
		delete(f.tails, t.key)
		return 0, false
	}
	return wait, true
}

func (t *tail) fetch(request *sarama.FetchRequest) (*sarama.FetchResponse, error) {
	_ = t.broker.Open(t.fetcher.client.Config()) // unless it is; what fails is told by Fetch
	response, err := t.broker.Fetch(request)
	if err != nil {
		_ = t.broker.Close()
	}
	return response, err
}

// hand hands out what came. Those keep their places that have room for more.
func (t *tail) hand(response *sarama.FetchResponse, err error) {
	t.keep(func(d *feed) bool {
		var b block
		from := t.from[partitionKey{d.topic, d.partition}]
		failure := err
		if failure == nil {
			b, failure = unpack(response.GetBlock(d.topic, d.partition), from)
		}
		if failure != nil || b.behind(from, d.committed) {
			t.fetcher.resume(d)
			return false
		}
		return d.accept(&b)
	})
}

func (t *tail) keep(wanted func(*feed) bool) {
	kept := t.feeds[:0]
	for _, d := range t.feeds {
		if wanted(d) {
			kept = append(kept, d)
		}
	}
	clear(t.feeds[len(kept):])
	t.feeds = kept
}
