package machine

import (
	"encoding/binary"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// BenchmarkYardstick is what the others are measured by: a goroutine asked over
// a channel, and its answer.
func BenchmarkYardstick(b *testing.B) {
	ask, answer := make(chan int), make(chan int)
	go func() {
		for n := range ask {
			answer <- n
		}
		close(answer)
	}()
	for b.Loop() {
		ask <- 1
		<-answer
	}
	close(ask)
	<-answer
}

// pair is a client's request and the step that ends it, as they stand in a log.
type pair struct{ request, step []byte }

func pairOf(n uint64) pair {
	var id record.ID
	binary.BigEndian.PutUint64(id[:], n+1)
	at := int64(1_000_000 + n)
	return pair{
		request: record.Encode(&record.ClientRequest{
			ID: id, Until: at + 1000, TTL: 500, Deadline: at + 500, Target: record.Address{Type: "t", Actor: "a"},
			Method: "add", Args: []byte("1"), Reply: "here",
		}),
		step: record.Encode(&record.Step{
			Epoch: 1, Link: record.Link{ID: id, Life: at + 1000}, Result: record.Result{Value: []byte("2")},
			Delta: record.Delta{Cells: []record.Cell{{Name: "sum", Value: []byte("2")}}},
		}),
	}
}

// steady is a state in which as many answers are forgotten as are made.
func steady() *State {
	s := New(record.Partition{Type: "t"})
	s.Apply(&record.Takeover{Epoch: 1, Partitions: 1, Window: 1000}, 1)
	return s
}

func (p pair) apply(b testing.TB, d *record.Decoder, s *State, n uint64) {
	for _, bytes := range [...][]byte{p.request, p.step} {
		r, err := d.Decode(bytes)
		if err != nil {
			b.Fatal(err)
		}
		if fx := s.Apply(r, int64(1_000_000+n)); fx.Void != Effective {
			b.Fatal(fx.Void)
		}
	}
}

// BenchmarkApplyPair applies a request and its step, which are there already, in
// the room of those before as a replay has them: what the state machine itself
// costs.
func BenchmarkApplyPair(b *testing.B) {
	s := steady()
	r, _ := record.Decode(pairOf(0).request)
	request, _ := r.(*record.ClientRequest)
	r, _ = record.Decode(pairOf(0).step)
	step, _ := r.(*record.Step)
	b.ReportAllocs()
	var n uint64
	for b.Loop() {
		n++
		at := int64(1_000_000 + n)
		binary.BigEndian.PutUint64(request.ID[:], n)
		request.Until = at + 1000
		step.Link = record.Link{ID: request.ID, Life: request.Until}
		s.Apply(request, at)
		if fx := s.Apply(step, at); fx.Void != Effective {
			b.Fatal(fx.Void)
		}
	}
}

// BenchmarkEncodeStep writes the record that ends a step.
func BenchmarkEncodeStep(b *testing.B) {
	step, err := record.Decode(pairOf(1).step)
	if err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = record.Append(out[:0], step)
	}
}

// BenchmarkDecodeStep reads it.
func BenchmarkDecodeStep(b *testing.B) {
	step := pairOf(1).step
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.Decode(step); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodePair reads a request and a step by hand, as a replay does.
func BenchmarkDecodePair(b *testing.B) {
	var d record.Decoder
	p := pairOf(1)
	b.ReportAllocs()
	for b.Loop() {
		for _, bytes := range [...][]byte{p.request, p.step} {
			if _, err := d.Decode(bytes); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkReplayPair decodes and applies both, as a takeover does.
func BenchmarkReplayPair(b *testing.B) {
	var d record.Decoder
	s := steady()
	pairs := make([]pair, 4096)
	b.ReportAllocs()
	var n uint64
	for b.Loop() {
		if n%uint64(len(pairs)) == 0 {
			b.StopTimer()
			for i := range pairs {
				pairs[i] = pairOf(n + uint64(i))
			}
			b.StartTimer()
		}
		pairs[n%uint64(len(pairs))].apply(b, &d, s, n)
		n++
	}
}
