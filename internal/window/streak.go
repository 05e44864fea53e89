package window

import "sync/atomic"

// streak counts consecutive failures.
type streak struct{ n atomic.Int64 }

func (s *streak) add(failed bool) {
	if failed {
		s.n.Add(1)
	} else if s.n.Load() != 0 {
		s.n.Store(0)
	}
}

func (s *streak) count() int { return int(s.n.Load()) }
