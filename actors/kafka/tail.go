package kafka

import (
	"time"

	"github.com/IBM/sarama"
)

// tail fetches the ends of the logs that one broker leads. It ends when it has
// none; what fails goes back to catch up, where the new leader is looked for.
type tail struct {
	fetcher *fetcher
	key     tailKey
	broker  *sarama.Broker // a connection of its own
	feeds   []*feed

	// Guarded by the fetcher's lock.
	joining []*feed
	waiting map[*feed]bool // that want to join, and whether they are awaited
}

// tailKey is what can be fetched together.
type tailKey struct {
	addr      string // of the broker
	committed bool
}

// brief is how long a fetch waits while somebody is about to join.
const brief = 2 * glance

func (t *tail) run() {
	defer func() { _ = t.broker.Close() }() // it was only read from
	for {
		wait, ok := t.gather()
		switch {
		case !ok:
			return
		case len(t.feeds) == 0:
			time.Sleep(glance)
			continue
		}
		request := fetchRequest(wait, t.key.committed)
		for _, d := range t.feeds {
			request.AddBlock(d.topic, d.partition, d.next, fetchBytes, -1)
		}
		response, err := t.fetch(request)
		if err != nil {
			t.fetcher.vitals.note("read", t.feeds[0].topic, explain("reading", err))
		}
		t.hand(response, err)
	}
}

// admit takes a feed in, if the tail awaits it; else it must go on reading by
// itself and come again. The fetcher's lock is held.
func (t *tail) admit(d *feed) bool {
	awaited, known := t.waiting[d]
	if awaited {
		delete(t.waiting, d)
		t.joining = append(t.joining, d)
	} else if !known {
		t.waiting[d] = false
	}
	return awaited
}

// gather takes in those that join, lets go of those that were closed, and says
// how long the next fetch may wait. Who is awaited now must come before the
// fetch after the next.
func (t *tail) gather() (wait time.Duration, ok bool) {
	f := t.fetcher
	f.mu.Lock()
	defer f.mu.Unlock()
	t.feeds = append(t.feeds, t.joining...)
	t.joining = nil
	t.keep(func(d *feed) bool { return !d.closed.Load() })
	wait = longPoll
	for d, awaited := range t.waiting {
		if awaited || d.closed.Load() { // it did not come
			delete(t.waiting, d)
			continue
		}
		t.waiting[d], wait = true, brief
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
		failure := err
		if failure == nil {
			b, failure = unpack(response.GetBlock(d.topic, d.partition), d.next)
		}
		if failure != nil {
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
