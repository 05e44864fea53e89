package kafka

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/membership"
)

var errDown = errors.New("down")

func TestWhatSucceedsSaysNothingOfAnotherPartition(t *testing.T) {
	var v vitals
	first, second := vital{part: "append", topic: "t"}, vital{part: "append", topic: "t", partition: 1}
	v.note(first, errDown)
	v.note(second, errDown)
	v.note(second, nil)
	if all := v.problems(); len(all) != 1 || all[0].Partition != 0 || all[0].Times != 1 {
		t.Errorf("%+v", all)
	}
	v.note(first, nil)
	if all := v.problems(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// A member that beats again may still be unable to ask the group.
func TestNoFailureOfAMembershipHidesAnother(t *testing.T) {
	kinds := []membership.Kind{membership.BeatFailed, membership.ReadFailed, membership.GroupFailed, membership.EvictionFailed}
	l := &Log{config: Config{App: "app"}}
	for _, k := range kinds {
		l.observe(membership.Event{Kind: k, Err: errDown})
	}
	for i, k := range kinds {
		if all := l.vitals.problems(); len(all) != len(kinds)-i {
			t.Fatalf("%d problems before %v is over: %+v", len(all), k, all)
		}
		l.observe(membership.Event{Kind: membership.Restored, Reason: k.String()})
		for _, p := range l.vitals.problems() {
			if p.Cause == k.String() {
				t.Errorf("%v is told though it is over", k)
			}
		}
	}
	if all := l.vitals.problems(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestAProblemThatIsNotMetAgainIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v vitals
		v.note(vital{part: "append", topic: "moved"}, errDown)
		time.Sleep(forgetAfter)
		v.note(vital{part: "append", topic: "stays"}, errDown)
		time.Sleep(time.Minute)
		if all := v.problems(); len(all) != 1 || all[0].Topic != "stays" || v.sick.Load() != 1 {
			t.Errorf("%+v, %d", all, v.sick.Load())
		}
	})
}

func TestNothingIsWrongOfWhatNobodyReadsAnyMore(t *testing.T) {
	f := &fetcher{vitals: new(vitals)}
	d := &feed{topic: "t", partition: 2}
	f.note(d, errDown)
	if all := f.vitals.problems(); len(all) != 1 || all[0].Partition != 2 {
		t.Fatalf("%+v", all)
	}
	f.stop(d)
	f.note(d, errDown) // of a fetch that was under way
	if all := f.vitals.problems(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// A topic without partitions is told until it has some, whichever serve first.
func TestATopicThatCannotBeRoutedIsToldUntilItCan(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		var fault error
		send := func() chan error {
			c := make(chan error, 1)
			p.send(&sending{
				done:            func(_ journal.Place, err error) { c <- err },
				route:           func(s *sending) error { s.Partition = 3; return fault },
				ProducerMessage: sarama.ProducerMessage{Topic: "t"},
			})
			return c
		}
		fault = errDown
		if err := <-send(); !errors.Is(err, errDown) {
			t.Error(err)
		}
		if all := p.vitals.problems(); len(all) != 1 || all[0].Partition != noPartition {
			t.Errorf("%+v", all)
		}
		fault = nil
		c := send()
		b.answer(<-b.taken, nil)
		<-c
		if all := p.vitals.problems(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
		p.close()
	})
}
