package membership

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// confirms checks whether a partition is confirmed, and returns what tells of the
// next answer.
func confirms(t *testing.T, m *Membership, p uint32, since backstay.Instant, want bool) <-chan struct{} {
	t.Helper()
	ok, changed := m.Confirmed(journal.Partition{Type: "t", Index: p}, since)
	if ok != want {
		t.Errorf("partition %d is confirmed: %v", p, ok)
	}
	return changed
}

func TestAnAnswerConfirmsWhatWasAskedAboutAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		m.granted(parts("t", 0, 1), backstay.Now())
		time.Sleep(time.Second)
		before := backstay.Now()
		time.Sleep(time.Second)
		lost := backstay.Now()
		time.Sleep(time.Millisecond)
		changed := confirms(t, m, 0, lost, false)
		if len(m.group.poke) != 1 {
			t.Error("the group is not asked at once")
		}
		m.confirmed(before)
		<-changed
		changed = confirms(t, m, 0, lost, false)
		m.confirmed(backstay.Now())
		<-changed
		confirms(t, m, 0, lost, true)
		confirms(t, m, 2, lost, false)
	})
}

func TestWhoHasLostAPartitionToALaterGenerationIsToldByJoiningThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		m.granted(parts("t", 0, 1), backstay.Now())
		time.Sleep(time.Second)
		lost := backstay.Now()
		time.Sleep(time.Millisecond)
		changed := confirms(t, m, 0, lost, false)
		m.group.react(sarama.ErrIllegalGeneration)
		confirms(t, m, 0, lost, false)
		m.granted(parts("t", 1), backstay.Now())
		<-changed
		confirms(t, m, 0, lost, false)
		confirms(t, m, 1, lost, true)
	})
}
