package kafka_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
)

// sure is a membership as owners see it who have lost a partition.
type sure interface {
	journal.Membership
	Confirmed(p journal.Partition, since backstay.Instant) (ok bool, changed <-chan struct{})
}

// within takes this process in, on a log of its own.
func (f *fleet) within(name string) sure {
	f.Helper()
	log, err := kafka.Open(f.Context(), f.config())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = log.Close() })
	m, err := log.Join(f.Context(), journal.Member{Name: name, Methods: map[string][]string{"account": {"open"}}})
	if err != nil {
		f.Fatal(err)
	}
	s, ok := m.(sure)
	if !ok {
		f.Fatal("it cannot be asked")
	}
	return s
}

// confirms is how long it takes the group to say that a partition is a member's.
func (f *fleet) confirms(m sure, p journal.Partition) time.Duration {
	f.Helper()
	lost := backstay.Now()
	for late := time.After(soon); ; {
		ok, changed := m.Confirmed(p, lost)
		if ok {
			return backstay.Now().Sub(lost)
		}
		select {
		case <-changed:
		case <-late:
			f.Fatalf("%v is not confirmed", p)
		}
	}
}

func TestTheGroupConfirmsAPartitionToTheOneThatItIsAssignedTo(t *testing.T) {
	onBoth(t, "confirmed", func(f *fleet) {
		first := f.within("first")
		all, changed := first.Assigned()
		f.Logf("alone: after %v", f.confirms(first, all[0]))
		second := f.within("second")
		lost := backstay.Now()
		<-changed
		mine, _ := first.Assigned()
		theirs, _ := second.Assigned()
		f.Logf("of two: after %v and %v", f.confirms(first, mine[0]), f.confirms(second, theirs[0]))
		if ok, _ := first.Confirmed(theirs[0], lost); ok {
			f.Errorf("%v is confirmed to both", theirs[0])
		}
	})
}
