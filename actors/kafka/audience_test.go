package kafka

import (
	"errors"
	"slices"
	"testing"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// hearing returns an audience of one, who is to get the entry at an offset next.
func hearing(t *testing.T, next int64) (*audience, *reader) {
	t.Helper()
	f := &fetcher{audiences: make(map[partitionKey]*audience)}
	r := attending(f, "t", 0, next)
	return f.audience("t", 0), r
}

func attending(f *fetcher, topic string, partition int32, next int64) *reader {
	r, _ := reading(10_000)
	r.feed.topic, r.feed.partition, r.feed.next = topic, partition, next
	f.attend(r)
	return r
}

// acknowledge ends an append at an offset.
func (a *audience) acknowledge(offset int64) {
	a.begin()
	a.end(sarama.ByteEncoder{byte('0' + offset)}, journal.Place{Offset: offset, At: 7}, nil)
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
	a, r := hearing(t, 3)
	a.acknowledge(3)
	a.acknowledge(4)
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
	a, r := hearing(t, 3)
	a.acknowledge(3)
	r.feed.accept(fetched(t, 3, 2))
	a.acknowledge(4)
	a.acknowledge(5)
	r.feed.accept(fetched(t, 4, 1))
	if got := polled(t, r); !slices.Equal(got, []int64{3, 4, 5}) || r.feed.at() != 6 {
		t.Errorf("%v, then %d", got, r.feed.at())
	}
}

func TestNothingIsHeardThatWouldLeaveAGap(t *testing.T) {
	a, r := hearing(t, 3)
	a.acknowledge(4)
	if got := polled(t, r); len(got) != 0 {
		t.Errorf("heard of %v, where 3 is missing", got)
	}
	r.feed.accept(fetched(t, 3, 2))
	a.acknowledge(5)
	if got := polled(t, r); !slices.Equal(got, []int64{3, 4, 5}) {
		t.Errorf("%v", got)
	}
}

// Brokers do not tell the time of an append that they know already, nor without
// the log's own clock.
func TestAnAcknowledgementWithoutATimeIsNoEntry(t *testing.T) {
	a, r := hearing(t, 3)
	a.begin()
	a.end(sarama.ByteEncoder("3"), journal.Place{Offset: 3}, nil)
	a.begin()
	a.end(sarama.ByteEncoder("3"), journal.Place{}, errors.New("not this time"))
	if got := polled(t, r); len(got) != 0 || a.out.Load() != 0 {
		t.Errorf("%v, %d under way", got, a.out.Load())
	}
}

func TestAFullReaderHearsOfNothing(t *testing.T) {
	a, r := hearing(t, 3)
	r.bound = itemBytes + 2
	a.acknowledge(3)
	a.acknowledge(4)
	if got := polled(t, r); !slices.Equal(got, []int64{3}) || r.parked || r.feed.at() != 4 {
		t.Errorf("%v, then %d; parked: %v", got, r.feed.at(), r.parked)
	}
}

func TestWhoIsClosedLeavesTheAudience(t *testing.T) {
	a, r := hearing(t, 3)
	r.feed.closed.Store(true)
	a.acknowledge(3)
	if got := polled(t, r); len(got) != 0 || len(a.readers) != 0 {
		t.Errorf("%v, %d readers", got, len(a.readers))
	}
}
