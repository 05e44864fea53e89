package kafka

import (
	"errors"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

// reading is a reader that nobody fetches for.
func reading(bound int) (r *reader, woken *int) {
	woken = new(int)
	r = &reader{inflow: inflow[journal.Entry]{fetcher: &fetcher{shut: true, vitals: new(vitals)}, bound: bound, wake: func() { *woken++ }, keep: entryOf, size: entrySize}}
	r.feed = &feed{sink: r}
	return r, woken
}

func TestAReaderIsParkedAboveItsBoundAndGoesOnBelowHalf(t *testing.T) {
	r, woken := reading(10_000)
	if !r.take([]message{{offset: 1, value: make([]byte, 5000)}}) || *woken != 1 {
		t.Fatal("it is parked below its bound, or nobody is woken")
	}
	if r.take([]message{{offset: 2, value: make([]byte, 5000)}}) {
		t.Fatal("it is not parked above its bound")
	}
	if all, err := r.Poll(1); len(all) != 1 || err != nil || !r.parked {
		t.Fatalf("%v, %v: parked %v above half", all, err, r.parked)
	}
	if all, err := r.Poll(1); len(all) != 1 || err != nil || r.parked || r.bytes != 0 {
		t.Fatalf("%v, %v: parked %v with nothing", all, err, r.parked)
	}
}

func TestAnEntryOutlivesTheResponseItCameIn(t *testing.T) {
	r, _ := reading(10_000)
	response := []byte("data")
	r.take([]message{{value: response}})
	copy(response, "XXXX")
	if all, _ := r.Poll(100); string(all[0].Data) != "data" {
		t.Errorf("%s", all[0].Data)
	}
}

func TestAnErrorComesAfterWhatWasRead(t *testing.T) {
	r, woken := reading(10_000)
	r.take([]message{{offset: 1}})
	r.fail(journal.ErrOutOfRange)
	if all, err := r.Poll(100); len(all) != 1 || err != nil || *woken != 2 {
		t.Errorf("first %v, %v", all, err)
	}
	for range 2 {
		if all, err := r.Poll(100); len(all) != 0 || !errors.Is(err, journal.ErrOutOfRange) {
			t.Errorf("then %v, %v", all, err)
		}
	}
	r.Close()
	if r.fail(journal.ErrClosed); *woken != 2 {
		t.Error("a reader that was closed is woken")
	}
}
