package kafka

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// A busy tail fetches many times before one that is awaited comes again.
func TestOneThatIsAwaitedJoinsABusyTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetcher{tails: make(map[tailKey]*tail)}
		tl := &tail{fetcher: f, feeds: []*feed{{}}, waiting: make(map[*feed]time.Time)}
		d, gone := &feed{}, &feed{}
		if tl.admit(d) || tl.admit(gone) {
			t.Fatal("one joined that is not awaited")
		}
		for range 50 {
			if wait, ok := tl.gather(); wait != brief || !ok {
				t.Fatalf("waits %v, %v", wait, ok)
			}
			time.Sleep(time.Millisecond)
		}
		if !tl.admit(d) {
			t.Error("it may not join")
		}
		time.Sleep(patience)
		if wait, _ := tl.gather(); wait != longPoll || len(tl.feeds) != 2 || len(tl.waiting) != 0 {
			t.Errorf("waits %v for %d, with %d", wait, len(tl.waiting), len(tl.feeds))
		}
	})
}

// lost is a client that knows no leader any more, and counts who asks.
type lost struct {
	sarama.Client
	asked atomic.Int32
}

func (l *lost) Leader(string, int32) (*sarama.Broker, error) {
	l.asked.Add(1)
	return nil, sarama.ErrLeaderNotAvailable
}

func (l *lost) RefreshMetadata(...string) error { return nil }

// What the tail does not get on with is read by itself: at its end it stays.
func TestATailGivesBackWhatIsNotAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		c := new(lost)
		f := &fetcher{client: c, vitals: new(vitals), ctx: ctx}
		stuck, atEnd := &feed{topic: "t", next: 10}, &feed{topic: "t", partition: 1, next: 10}
		tl := newTail(f, tailKey{}, nil)
		tl.feeds = []*feed{stuck, atEnd}
		tl.request(0)
		tl.hand(&sarama.FetchResponse{Blocks: map[string]map[int32]*sarama.FetchResponseBlock{"t": {
			0: {HighWaterMarkOffset: 12}, 1: {HighWaterMarkOffset: 10},
		}}}, nil)
		synctest.Wait()
		if len(tl.feeds) != 1 || tl.feeds[0] != atEnd || c.asked.Load() != 1 {
			t.Errorf("%d are left, %d are read by themselves", len(tl.feeds), c.asked.Load())
		}
		end()
		f.work.Wait()
	})
}

// gathered is a sink that keeps the offsets of what it takes.
type gathered struct{ offsets []int64 }

func (g *gathered) take(all []message) bool {
	for i := range all {
		g.offsets = append(g.offsets, all[i].offset)
	}
	return true
}

func (g *gathered) fail(error) {}

// Two types may take in the same topic, and one be ahead of the other.
func TestTwoThatReadTheSamePartitionEachGetAll(t *testing.T) {
	full := batchAt(10, 4)
	full.Version = 2
	broker := leading(t, blockOf(full)).broker
	var behind, ahead gathered
	tl := newTail(&fetcher{vitals: new(vitals)}, tailKey{}, nil)
	tl.broker = broker
	tl.feeds = []*feed{{topic: "t", next: 10, sink: &behind}, {topic: "t", next: 12, sink: &ahead}}
	request := tl.request(0)
	response, err := broker.Fetch(request)
	if err != nil {
		t.Fatal(err)
	}
	tl.hand(response, nil)
	if !slices.Equal(behind.offsets, []int64{10, 11, 12, 13}) || !slices.Equal(ahead.offsets, []int64{12, 13}) {
		t.Errorf("%v and %v", behind.offsets, ahead.offsets)
	}
	want := fetchRequest(0, false)
	want.AddBlock("t", 0, 10, fetchBytes, -1)
	if !reflect.DeepEqual(request, want) {
		t.Errorf("asked for %+v", request)
	}
}
