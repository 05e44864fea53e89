package membership

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// hearing is a reader whose own beats end at an offset, and what it tells.
func hearing(written int64) (r *reader, heard *[]uint64, told *[]error) {
	heard, told = new([]uint64), new([]error)
	r = &reader{
		written: func() int64 { return written },
		heard:   func(b *beat, _ int64) { *heard = append(*heard, b.Seq) },
		trouble: trouble{tell: func(err error) { *told = append(*told, err) }},
	}
	return r, heard, told
}

func numbered(seq uint64) []byte { return (&beat{Version: version, ID: "a", Seq: seq}).encode() }

func TestWhatIsNoBeatIsPassedOver(t *testing.T) {
	r, heard, _ := hearing(0)
	r.take([]byte("no beat"), 6, 1000)
	r.take(numbered(1), 7, 1000)
	if !slices.Equal(*heard, []uint64{1}) || r.next.Load() != 8 {
		t.Errorf("heard %v, to %d", *heard, r.next.Load())
	}
}

func TestOwnBeatsThatAreNotReadAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, told := hearing(10)
		ctx, cancel := context.WithCancel(t.Context())
		stopped := false
		go r.watch(ctx, func() { stopped = true })
		r.take(numbered(1), 5, 1000)
		time.Sleep(2*stuckAfter + time.Second)
		synctest.Wait()
		if len(*told) != 1 || !errors.Is((*told)[0], errStuck) {
			t.Fatalf("told %v", *told)
		}
		r.take(numbered(2), 9, 1000) // the last one: what is quiet now is so because nobody beats
		time.Sleep(3 * stuckAfter)
		synctest.Wait()
		if len(*told) != 2 || (*told)[1] != nil {
			t.Errorf("told %v", *told)
		}
		cancel()
		synctest.Wait()
		if !stopped {
			t.Error("it reads on")
		}
	})
}

func TestNothingIsHeardAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, heard, _ := hearing(0)
		ctx, cancel := context.WithCancel(t.Context())
		go r.watch(ctx, func() {})
		cancel()
		synctest.Wait()
		r.take(numbered(1), 1, 1000) // of a fetch that was under way
		if len(*heard) > 0 {
			t.Errorf("heard %v", *heard)
		}
	})
}
