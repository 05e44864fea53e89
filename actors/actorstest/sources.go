package actorstest

import (
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

// sourcing: a log that has topics to read has what was published to them.
func sourcing(r *rig) {
	from, ok := r.Log.(journal.Sources)
	if !ok {
		r.Skip("it has no topics to read")
	}
	const n = 50
	want := make(map[string]bool, n)
	for i := range n {
		key := fmt.Sprint("key ", i)
		want[key] = true
		acked := make(chan ack, 1)
		r.Publish(journal.Message{
			Topic: LogTopic, Key: key, Value: []byte(key), Headers: []journal.Header{{Name: "h", Value: []byte("1")}, {Name: "h", Value: []byte("2")}},
		}, func(at journal.Place, err error) { acked <- ack{at, err} })
		if a := r.await(acked); a.err != nil {
			r.Fatal(a.err)
		}
	}
	count, err := from.SourceCount(r.Context(), LogTopic)
	if err != nil || count == 0 {
		r.Fatalf("%d partitions, %v", count, err)
	}
	for p := range count {
		r.source(from, journal.Source{Topic: LogTopic, Partition: p}, want)
	}
	if len(want) > 0 {
		r.Errorf("these did not come: %v", want)
	}
}

// source reads all that a source has, and takes what is as it was published off
// want.
func (r *rig) source(from journal.Sources, s journal.Source, want map[string]bool) {
	next, end, err := from.SourceBounds(r.Context(), s)
	if err != nil {
		r.Fatal(err)
	}
	woken := make(chan struct{}, 1)
	reader, err := from.ReadSource(s, next, func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err != nil {
		r.Fatal(err)
	}
	defer reader.Close()
	for limit := time.After(patience); next < end; {
		all, err := reader.Poll(1000)
		if err != nil {
			r.Fatal(err)
		}
		for i := range all {
			if all[i].Offset < next || all[i].At == 0 {
				r.Errorf("%v after offset %d", all[i].Place, next-1)
			}
			if next = all[i].Offset + 1; whole(&all[i].Message) {
				delete(want, all[i].Key)
			}
		}
		if len(all) > 0 {
			continue
		}
		select {
		case <-woken:
		case <-limit:
			r.Fatalf("%v ends at %d, of %d", s, next, end)
		}
	}
}

// whole reports whether nothing is missing of a message that sourcing published.
func whole(m *journal.Message) bool {
	return m.Topic == LogTopic && m.Key == string(m.Value) && len(m.Headers) == 2 && m.Headers[1].Name == "h" && string(m.Headers[1].Value) == "2"
}
