package window_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/window"
)

// call is one entry of the models, which keep every call there ever was.
type call struct {
	at           backstay.Instant
	failed, slow bool
}

func draw(t *rapid.T) call {
	// Long rows of one kind are what windows have to get right.
	kind := rapid.SampledFrom([]call{{}, {}, {}, {failed: true}, {slow: true}, {failed: true, slow: true}}).Draw(t, "call")
	return kind
}

func count(calls []call) (c window.Counts) {
	for _, v := range calls {
		c.Calls++
		if v.failed {
			c.Failures++
		}
		if v.slow {
			c.Slow++
		}
	}
	return c
}

func streak(calls []call) (n int) {
	for i := len(calls) - 1; i >= 0 && calls[i].failed; i-- {
		n++
	}
	return n
}

func last(calls []call, n int) []call { return calls[max(0, len(calls)-n):] }

func TestAStripCountsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slow := rapid.Bool().Draw(t, "slow")
		limit := 62
		if slow {
			limit = 30
		}
		size := rapid.IntRange(1, limit).Draw(t, "size")
		s, _ := window.NewStrip(size, slow)
		var calls []call
		w := s.Empty()
		for range rapid.IntRange(0, 150).Draw(t, "calls") {
			c := draw(t)
			c.slow = c.slow && slow
			calls = append(calls, c)
			w = s.Push(w, c.failed, c.slow)
			want := count(last(calls, size))
			want.Consecutive = streak(last(calls, size))
			if got := s.Counts(w); got != want {
				t.Fatalf("after %d calls: got %+v, want %+v", len(calls), got, want)
			}
		}
	})
}

func TestLastCountsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 130).Draw(t, "size")
		l := window.NewLast(size)
		var calls []call
		for range rapid.IntRange(0, 300).Draw(t, "calls") {
			c := draw(t)
			calls = append(calls, c)
			l.Add(c.failed, c.slow)
			want := count(last(calls, size))
			want.Consecutive = streak(calls)
			if got := l.Counts(); got != want {
				t.Fatalf("after %d calls: got %+v, want %+v", len(calls), got, want)
			}
		}
	})
}

func TestRollingCountsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		buckets := rapid.IntRange(1, 12).Draw(t, "buckets")
		width := rapid.Int64Range(1, 1000).Draw(t, "width")
		r := window.NewRolling(time.Duration(width*int64(buckets)), buckets)
		now := backstay.Instant(rapid.Int64Range(1, 5000).Draw(t, "start"))
		var calls []call
		for range rapid.IntRange(0, 150).Draw(t, "calls") {
			now += backstay.Instant(rapid.Int64Range(0, 2*width).Draw(t, "pause"))
			if rapid.IntRange(0, 30).Draw(t, "idle") == 0 {
				now += backstay.Instant(rapid.Int64Range(0, 5*width*int64(buckets)).Draw(t, "idle for"))
			}
			c := draw(t)
			c.at = now
			calls = append(calls, c)
			r.Add(now, c.failed, c.slow)

			var recent []call
			for _, c := range calls {
				if int64(c.at)/width > int64(now)/width-int64(buckets) {
					recent = append(recent, c)
				}
			}
			want := count(recent)
			want.Consecutive = streak(calls)
			if got := r.Counts(now); got != want {
				t.Fatalf("at %d: got %+v, want %+v", now, got, want)
			}
		}
	})
}
