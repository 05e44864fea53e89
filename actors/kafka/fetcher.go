package kafka

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// fetcher reads partitions. One that is behind the end of its log is read by
// itself, without waiting, on connections that are for that; those at their
// ends are fetched together, one request a broker, that waits for something to
// come. So one that is added or behind neither waits for the others nor stalls
// them, and one whose owner is slow is left out.
type fetcher struct {
	client   sarama.Client // for those that are behind, and to find leaders
	appender *producer     // what it sends is heard of, where logs are read
	vitals   *vitals
	ctx      context.Context //nolint:containedctx // that of the Log's life
	work     sync.WaitGroup

	mu        sync.Mutex
	tails     map[tailKey]*tail
	feeds     map[*feed]struct{}
	audiences map[partitionKey]*audience
	shut      bool
}

func newFetcher(l *Log) *fetcher {
	return &fetcher{
		client: l.client, vitals: &l.vitals, ctx: l.ctx,
		tails: make(map[tailKey]*tail), feeds: make(map[*feed]struct{}), audiences: make(map[partitionKey]*audience),
	}
}

// feed is a partition that is read. One goroutine at a time fetches for it.
type feed struct {
	topic     string
	partition int32
	sink      sink
	lossy     bool // goes on where the log begins, or ends, when it is out of range
	committed bool // without the records of transactions that are open or aborted
	lag       atomic.Int64
	closed    atomic.Bool

	mu   sync.Mutex
	next int64 // offset of what the sink gets next
}

// at is where the feed is.
func (d *feed) at() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next
}

// logs reports whether what is read is a log of actors.
func (d *feed) logs() bool {
	_, ok := d.sink.(*reader)
	return ok
}

// sink takes what was fetched. It does not block.
type sink interface {
	// take is given records and false is returned if there is no room for
	// more; then the sink resumes the feed when there is.
	take(all []message) (room bool)
	// fail ends the feed.
	fail(err error)
}

// start reads a partition from an offset on.
func (f *fetcher) start(d *feed) {
	f.mu.Lock()
	if f.shut {
		f.mu.Unlock()
		d.sink.fail(journal.ErrClosed)
		return
	}
	f.feeds[d] = struct{}{}
	f.mu.Unlock()
	f.resume(d)
}

// stop ends a feed: what is under way may still come.
func (f *fetcher) stop(d *feed) {
	d.closed.Store(true)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.feeds, d)
	f.note(d, nil)
}

// note notes how a fetch has ended. Of what nobody reads any more nothing is
// wrong.
func (f *fetcher) note(d *feed, err error) {
	key := vital{part: "read", topic: d.topic, partition: d.partition}
	f.vitals.note(key, err)
	if err != nil && d.closed.Load() {
		f.vitals.note(key, nil)
	}
}

// resume goes on with a feed that nobody has.
func (f *fetcher) resume(d *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shut {
		f.work.Go(func() { f.catchUp(d) })
	}
}

// Waits after a failure, doubled from one to the other.
const (
	shortest = 20 * time.Millisecond
	longest  = 500 * time.Millisecond
)

// glance is the wait between two looks at a partition that is at its end and is
// not fetched with the others yet.
const glance = 5 * time.Millisecond

// catchUp reads a partition to its end, then hands it over to the tail of its
// leader. It is where all failures of reading end up: they are tried again for
// as long as the feed is wanted.
func (f *fetcher) catchUp(d *feed) {
	for wait := time.Duration(0); !d.closed.Load() && sleep(f.ctx, wait) == nil; {
		from := d.at()
		b, err := fetchOne(f.client, d.topic, d.partition, from, fetchBytes, d.committed)
		if errors.Is(err, sarama.ErrOffsetOutOfRange) {
			if err = f.outside(d); err == nil {
				continue
			}
		}
		if errors.Is(err, journal.ErrOutOfRange) {
			d.sink.fail(err)
			return
		}
		if err != nil {
			f.note(d, explain("reading "+d.topic, err))
			wait = min(max(2*wait, shortest), longest)
			_ = f.client.RefreshMetadata(d.topic) // the next fetch says what is wrong
			continue
		}
		wait = 0
		f.note(d, nil)
		stuck := b.next == from // before what is not committed, or that the leader does not give yet
		if !d.accept(&b) {
			return
		}
		if b.next >= b.end || stuck {
			if f.follow(d) {
				return
			}
			wait = glance
		}
	}
}

// accept gives the sink what came and what it does not have yet, and reports
// whether it has room for more.
func (d *feed) accept(b *block) (room bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	news := b.messages
	for len(news) > 0 && news[0].offset < d.next {
		news = news[1:]
	}
	d.next = max(d.next, b.next)
	d.lag.Store(max(0, b.end-d.next))
	return len(news) == 0 || d.sink.take(news)
}

// outside says why an offset is out of range: below the log, for good; or above
// it, as long as the leader has lost records that were acknowledged, or lags. A
// feed that may lose records goes on: then it is nil.
func (f *fetcher) outside(d *feed) error {
	first, err := f.client.GetOffset(d.topic, d.partition, sarama.OffsetOldest)
	if err != nil {
		return err
	}
	end, err := f.client.GetOffset(d.topic, d.partition, sarama.OffsetNewest)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		return err
	case d.lossy:
		d.next = min(max(d.next, first), end)
		return nil
	case d.next < first:
		return journal.ErrOutOfRange
	default:
		return errBeyond
	}
}

// errBeyond: the log ends below an offset that was read or acknowledged before.
var errBeyond = errors.New("the log ends below what it has acknowledged: records were lost, or the topic was made anew")

// follow has a feed that is at the end of its log fetched with the others, as
// soon as those are between two fetches, and reports whether it is.
func (f *fetcher) follow(d *feed) bool {
	broker, err := f.client.Leader(d.topic, d.partition)
	if err != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut {
		return true
	}
	key := tailKey{broker.Addr(), d.committed}
	t := f.tails[key]
	if t != nil {
		return t.admit(d)
	}
	t = newTail(f, key, d)
	f.tails[key] = t
	f.work.Go(t.run)
	return true
}

// lags are those of the readers of logs.
func (f *fetcher) lags() map[journal.Partition]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make(map[journal.Partition]int64)
	for d := range f.feeds {
		if r, ok := d.sink.(*reader); ok {
			all[r.partition] = max(all[r.partition], d.lag.Load())
		}
	}
	return all
}

// close ends everything, after the ctx of the fetcher has.
func (f *fetcher) close() {
	f.mu.Lock()
	f.shut = true
	feeds := f.feeds
	f.feeds = nil
	f.mu.Unlock()
	for d := range feeds {
		d.closed.Store(true)
		d.sink.fail(journal.ErrClosed)
	}
	f.work.Wait()
}
