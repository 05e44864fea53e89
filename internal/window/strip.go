package window

import "math/bits"

// Strip lays out the last outcomes of a few calls in one word: one bit a call
// (failed), or two (failed, slow), the newest in the lowest place, and above
// the oldest a marker bit that tells how many there are. A Strip holds the
// layout only and never changes; its methods are pure.
type Strip struct {
	step uint   // bits a call
	full uint64 // the marker's place when the window is full
	fail uint64 // the bits that say failed
	slow uint64 // the bits that say slow
}

// The most calls a word has room for, beside the marker and the call being
// shifted in.
const (
	maxStrip     = 62
	maxStripSlow = 30
)

// everyOther has the lower bit of each pair set.
const everyOther = 0x5555_5555_5555_5555

// NewStrip lays out a window of size calls. It reports false where a word is
// too small: more than 62 calls, or more than 30 if slow ones are told apart.
func NewStrip(size int, slow bool) (Strip, bool) {
	switch {
	case size < 1, slow && size > maxStripSlow, size > maxStrip:
		return Strip{}, false
	case slow:
		return Strip{step: 2, full: 1 << (2 * size), fail: everyOther, slow: everyOther << 1}, true
	default:
		return Strip{step: 1, full: 1 << size, fail: ^uint64(0)}, true
	}
}

// Empty is the word of a window without calls.
func (Strip) Empty() uint64 { return 1 }

// Healthy is the word of a full window of calls that were neither failed nor
// slow. Pushing another such call gives the same word.
func (s Strip) Healthy() uint64 { return s.full }

// Push returns the word w with one more call, the oldest dropped if it was
// full. A layout without slow calls ignores slow.
func (s Strip) Push(w uint64, failed, slow bool) uint64 {
	w <<= s.step
	if failed {
		w |= 1
	}
	if slow {
		w |= 2 & s.slow
	}
	if w >= s.full<<1 {
		w = w&(s.full-1) | s.full
	}
	return w
}

// Counts counts the calls in the word w.
func (s Strip) Counts(w uint64) Counts {
	mark := bits.Len64(w) - 1
	w &^= 1 << mark
	return Counts{
		Calls:       mark / int(s.step),
		Failures:    bits.OnesCount64(w & s.fail),
		Slow:        bits.OnesCount64(w & s.slow),
		Consecutive: bits.TrailingZeros64(^w&s.fail) / int(s.step),
	}
}
