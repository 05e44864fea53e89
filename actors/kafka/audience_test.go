package kafka

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// hearing returns a fetcher and a reader that is to get the entry at an offset next.
func hearing(t *testing.T, next int64) (*fetcher, *reader) {
	t.Helper()
	f := &fetcher{audiences: make(map[partitionKey]*audience), tails: make(map[tailKey]*tail)}
	return f, attending(f, "t", 0, next)
}

func attending(f *fetcher, topic string, partition int32, next int64) *reader {
	r, _ := reading(10_000)
	r.feed.topic, r.feed.partition, r.feed.next = topic, partition, next
	f.attend(r)
	return r
}

// acknowledge says that an entry has landed at an offset.
func (f *fetcher) acknowledge(offset int64) {
	f.hear(entryAt(offset), journal.Place{Offset: offset, At: 7}, nil)
}

func entryAt(offset int64) *sarama.ProducerMessage {
	return &sarama.ProducerMessage{Topic: "t", Value: sarama.ByteEncoder{byte('0' + offset)}}
}

func polled(t *testing.T, r *reader) (all []int64) {
	t.Helper()
	entries, err := r.Poll(1 << 20)
	for _, e := range entries {
		if e.At != 7 && e.At != 2000 || string(e.Data) != string(rune('0'+e.Offset)) {
			t.Errorf("%+v", e)
		}
		all = append(all, e.Offset)
	}
	if err != nil {
		t.Error(err)
	}
	return all
}

// fetched is a batch of entries as acknowledge appends them.
func fetched(t *testing.T, first int64, n int) *block {
	t.Helper()
	batch := batchAt(first, n)
	for i, r := range batch.Records {
		r.Value = []byte{byte('0' + int(first) + i)}
	}
	b, err := unpack(blockOf(batch), first)
	if err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestAnAudienceHearsOfTheNextEntryFromItsAcknowledgement(t *testing.T) {
	f, r := hearing(t, 3)
	f.acknowledge(3)
	f.acknowledge(4)
	if got := polled(t, r); !slices.Equal(got, []int64{3, 4}) || r.feed.at() != 5 {
		t.Errorf("%v, then %d", got, r.feed.at())
	}
}

func TestALogsReadersHearOfWhatIsAppendedToIt(t *testing.T) {
	appendingTo(t, func(t *testing.T, l *Log, h *history) {
		r, other := attending(l.fetcher, "app.b", 1, 0), attending(l.fetcher, "app.b", 0, 0)
		for _, data := range []string{"0", "1"} {
			h.append(l, journal.Partition{Type: "b", Index: 1}, data)
			h.ended(t, data, nil)
		}
		if got := polled(t, r); !slices.Equal(got, []int64{0, 1}) {
			t.Errorf("%v", got)
		}
		if got := polled(t, other); len(got) != 0 {
			t.Errorf("those of another partition hear of %v", got)
		}
	})
}

// Whatever comes from where: each entry once, in order.
func TestWhatWasHeardIsNotReadAgain(t *testing.T) {
	f, r := hearing(t, 3)
	f.acknowledge(3)
	r.feed.accept(fetched(t, 3, 2))
	f.acknowledge(4)
	f.acknowledge(5)
	r.feed.accept(fetched(t, 4, 1))
	if got := polled(t, r); !slices.Equal(got, []int64{3, 4, 5}) || r.feed.at() != 6 {
		t.Errorf("%v, then %d", got, r.feed.at())
	}
}

func TestNothingIsHeardThatWouldLeaveAGap(t *testing.T) {
	f, r := hearing(t, 3)
	f.acknowledge(4)
	if got := polled(t, r); len(got) != 0 {
		t.Errorf("heard of %v, where 3 is missing", got)
	}
	r.feed.accept(fetched(t, 3, 2))
	f.acknowledge(5)
	if got := polled(t, r); !slices.Equal(got, []int64{3, 4, 5}) {
		t.Errorf("%v", got)
	}
}

// Brokers do not tell the time of an append that they know already, nor without
// the log's own clock.
func TestAnAcknowledgementWithoutATimeIsNoEntry(t *testing.T) {
	f, r := hearing(t, 3)
	f.hear(entryAt(3), journal.Place{Offset: 3}, nil)
	f.hear(entryAt(3), journal.Place{}, errors.New("not this time"))
	if got := polled(t, r); len(got) != 0 || r.feed.at() != 3 {
		t.Errorf("%v, then %d", got, r.feed.at())
	}
}

func TestAFullReaderHearsOfNothing(t *testing.T) {
	f, r := hearing(t, 3)
	r.bound = itemBytes + 2
	f.acknowledge(3)
	f.acknowledge(4)
	if got := polled(t, r); !slices.Equal(got, []int64{3}) || r.parked || r.feed.at() != 4 {
		t.Errorf("%v, then %d; parked: %v", got, r.feed.at(), r.parked)
	}
}

func TestWhoIsClosedLeavesTheAudience(t *testing.T) {
	f, r := hearing(t, 3)
	r.feed.closed.Store(true)
	f.acknowledge(3)
	if got := polled(t, r); len(got) != 0 || len(f.audiences[partitionKey{"t", 0}].readers) != 0 {
		t.Errorf("%v is heard; %v", got, f.audiences)
	}
}

// Acknowledgements and fetches come late, in any order to each other, and a reader
// may be full: what it gets is the log.
func TestHoweverEntriesComeAReaderGetsTheLog(t *testing.T) {
	heard, fetched := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 23)) //nolint:gosec // the same each time
		w := &hearsay{t: t, rng: rng}
		w.f, w.r = hearing(t, 0)
		w.r.bound = 300 + rng.IntN(2000)
		acts := []func(){w.append, w.append, w.acknowledge, w.acknowledge, w.ask, w.answer, w.poll}
		for range 200 {
			acts[rng.IntN(len(acts))]()
		}
		for len(w.acks) > 0 {
			w.acknowledge()
		}
		for tries := 0; len(w.got) < int(w.end) && tries < 1000; tries++ {
			w.answer()
			w.poll()
			w.ask()
		}
		if len(w.got) != int(w.end) {
			t.Fatalf("seed %d: %d of %d entries", seed, len(w.got), w.end)
		}
		heard, fetched = heard+w.heard, fetched+w.fetched
	}
	if heard < 1000 || fetched < 1000 {
		t.Errorf("%d were heard, %d fetched", heard, fetched)
	}
}

// hearsay is a log that two processes append to, one of which reads it.
type hearsay struct {
	t       *testing.T
	rng     *rand.Rand
	f       *fetcher
	r       *reader
	end     int64
	acks    []int64 // of the own entries
	asked   []int64 // from and to of a fetch that is under way
	got     []int64
	heard   int
	fetched int
}

func (w *hearsay) append() {
	if w.rng.IntN(3) > 0 {
		w.acks = append(w.acks, w.end)
	}
	w.end++
}

func (w *hearsay) acknowledge() {
	if len(w.acks) == 0 {
		return
	}
	before := w.r.feed.at()
	w.f.hear(&sarama.ProducerMessage{Topic: "t", Value: sarama.ByteEncoder("x")}, journal.Place{Offset: w.acks[0], At: 7}, nil)
	w.acks = w.acks[1:]
	w.heard += int(w.r.feed.at() - before)
}

func (w *hearsay) ask() {
	if w.asked == nil && !w.r.parked {
		w.asked = []int64{w.r.feed.at(), w.end}
	}
}

// answer answers a fetch, with as much as there was, or less.
func (w *hearsay) answer() {
	if w.asked == nil {
		return
	}
	from, to := w.asked[0], w.asked[1]
	b := block{end: to, next: from}
	for ; b.next < to && w.rng.IntN(8) > 0; b.next++ {
		b.messages = append(b.messages, message{offset: b.next, at: 7, value: []byte("x")})
	}
	w.asked, w.fetched = nil, w.fetched+len(b.messages)
	w.r.feed.accept(&b)
}

func (w *hearsay) poll() {
	entries, err := w.r.Poll(1 + w.rng.IntN(200))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Offset != int64(len(w.got)) {
			w.t.Fatalf("after %d entries comes %d", len(w.got), e.Offset)
		}
		w.got = append(w.got, e.Offset)
	}
}
