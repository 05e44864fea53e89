package membership

import (
	"sync"
	"time"
)

// Onlooker knows the members by their beats, and is none. It is safe for
// concurrent use.
type Onlooker struct {
	mu       sync.Mutex
	detector *detector
}

// NewOnlooker returns one that has heard nobody yet. suspectAfter is as in
// [Config], 0 the default.
func NewOnlooker(suspectAfter time.Duration) *Onlooker {
	c := Config{SuspectAfter: suspectAfter}.withDefaults()
	return &Onlooker{detector: newDetector("", c.SuspectAfter)}
}

// Hear takes the next record of App.members, with the time of its append in
// milliseconds. What is no beat is passed over.
func (o *Onlooker) Hear(data []byte, at int64) {
	b, err := decodeBeat(data)
	if err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.detector.hear(b, at)
	o.detector.forget(nil)
}

// Addresses are those of the members that are alive, as far as others tell: the
// last one alive is thought to be so until somebody else beats.
func (o *Onlooker) Addresses() map[string]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]bool)
	for _, p := range o.detector.pulses {
		if p.Address != "" {
			all[p.Address] = true
		}
	}
	return all
}
