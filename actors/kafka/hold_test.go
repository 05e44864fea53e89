package kafka

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// holding runs a test of a tail that fetches for a reader, which is to get the
// entry at 3 next, while a producer sends.
func holding(t *testing.T, test func(t *testing.T, tl *tail, s *sends)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, r := hearing(t, 3)
		p, b := produceBy(new(vitals))
		f.appender, p.after = p, f.hear
		tl := newTail(f, tailKey{}, r.feed)
		f.tails[tl.key] = tl
		tl.gather()
		test(t, tl, &sends{p, b})
		p.close()
	})
}

// sends are what a producer has under way.
type sends struct {
	p *producer
	b *brokers
}

func (s *sends) begin() {
	s.p.send(&sending{entry: true, done: func(journal.Place, error) {}, ProducerMessage: *entryAt(0)})
}

// end acknowledges the oldest, after a while.
func (s *sends) end(after time.Duration, offset int64) {
	time.AfterFunc(after, func() {
		m := <-s.b.taken
		m.Offset, m.Timestamp = offset, time.UnixMilli(7)
		s.b.answer(m, nil)
	})
}

// heldFor is how long the next fetch is held back.
func heldFor(tl *tail) time.Duration {
	began := time.Now()
	tl.hold()
	return time.Since(began)
}

func TestAFetchIsHeldBackUntilTheOnlyRecordHasEnded(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, s *sends) {
		t.Helper()
		s.begin()
		s.end(held/4, 3)
		if d := heldFor(tl); d != held/4 {
			t.Errorf("held for %v", d)
		}
	})
}

func TestAFetchIsHeldBackWhileAChainGoesOn(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, s *sends) {
		t.Helper()
		next := int64(3)
		s.p.after = func(m *sarama.ProducerMessage, at journal.Place, err error) {
			if next++; next < 6 {
				s.begin()
				s.end(held/4, next)
			}
			tl.fetcher.hear(m, at, err)
		}
		s.begin()
		s.end(held/4, next)
		if d := heldFor(tl); d != 3*held/4 {
			t.Errorf("held for %v", d)
		}
	})
}

func TestAFetchIsNotHeldBackForLong(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, s *sends) {
		t.Helper()
		s.begin()
		if d := heldFor(tl); d != held {
			t.Errorf("held for %v", d)
		}
		s.end(0, 3)
	})
}

func TestAFetchIsNotHeldBackWhereItHasSomethingToTell(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, s *sends) {
		t.Helper()
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with nothing under way", d)
		}
		s.begin()
		s.begin()
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with two records under way", d)
		}
		s.end(held/4, 4)
		time.Sleep(held / 2)
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with an entry before what was acknowledged", d)
		}
		s.end(0, 5)
	})
}

// Somebody else has appended: another record of this process is no reason to wait.
func TestAHoldEndsWithAnAcknowledgementThatLeavesAGap(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, s *sends) {
		t.Helper()
		s.p.after = func(m *sarama.ProducerMessage, at journal.Place, err error) {
			s.p.after = nil
			s.begin()
			tl.fetcher.hear(m, at, err)
		}
		s.begin()
		s.end(held/4, 4)
		if d := heldFor(tl); d != held/4 {
			t.Errorf("held for %v", d)
		}
		s.end(0, 5)
	})
}

// Answers are waited for meanwhile.
func TestOnlyFetchesOfLogsAreHeldBackAndOnlyForLogs(t *testing.T) {
	holding(t, func(t *testing.T, tl *tail, s *sends) {
		t.Helper()
		s.p.send(&sending{done: func(journal.Place, error) {}, ProducerMessage: *entryAt(0)})
		if d := heldFor(tl); d != 0 {
			t.Errorf("held for %v with an answer under way", d)
		}
		s.end(0, 3)
		time.Sleep(held)
		s.begin()
		of := newTail(tl.fetcher, tailKey{committed: true}, &feed{sink: new(gathered)})
		of.gather()
		if d := heldFor(of); d != 0 {
			t.Errorf("of another topic: held for %v", d)
		}
		s.end(0, 4)
	})
}
