package membership

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
)

// unconnected is a membership that nothing runs.
func unconnected(events *[]Kind) *Membership {
	var mu sync.Mutex
	c := Config{
		App: "app", Member: journal.Member{Name: "me", Methods: map[string][]string{"t": {"m"}}}, Partitions: map[string]uint32{"t": 4},
		Observe: func(e Event) { mu.Lock(); defer mu.Unlock(); *events = append(*events, e.Kind) },
	}.withDefaults()
	m := newMembership(c)
	m.writer = &writer{poke: make(chan struct{}, 1)}
	m.group = &group{config: &m.config, on: m, poke: make(chan struct{}, 1)}
	return m
}

// owns checks what is assigned, and whether that was told.
func owns(t *testing.T, m *Membership, told <-chan struct{}, want ...uint32) <-chan struct{} {
	t.Helper()
	all, changed := m.Assigned()
	if !slices.Equal(all, parts("t", want...)) {
		t.Errorf("assigned %v, want %v", all, want)
	}
	select {
	case <-told:
	default:
		if told != nil {
			t.Error("the change was not told")
		}
	}
	return changed
}

func TestTheGroupsWordHoldsForTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []Kind
		m := unconnected(&events)
		go m.watch(t.Context())
		changed := owns(t, m, nil)
		m.granted(parts("t", 0, 1), backstay.Now())
		changed = owns(t, m, changed, 0, 1)
		time.Sleep(9 * time.Second)
		m.confirmed(backstay.Now())
		time.Sleep(9 * time.Second)
		owns(t, m, nil, 0, 1)
		time.Sleep(3 * time.Second)
		<-changed
		changed = owns(t, m, changed)
		m.confirmed(backstay.Now())
		owns(t, m, changed, 0, 1)
		if want := []Kind{LeaseHeld, Joined, LeaseLost, LeaseHeld}; !slices.Equal(events, want) {
			t.Errorf("events %v, want %v", events, want)
		}
	})
}

func TestAfterAStopNothingIsOwnedUntilTheGroupHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []Kind
		m := unconnected(&events)
		m.granted(parts("t", 3), backstay.Now())
		changed := owns(t, m, nil, 3)
		before := backstay.Now()
		time.Sleep(6 * time.Second) // and nobody looks
		m.confirmed(before)
		changed = owns(t, m, changed)
		m.confirmed(backstay.Now())
		owns(t, m, changed, 3)
		if m.Pauses(backstay.Now()) != 1 {
			t.Errorf("%d pauses", m.Pauses(backstay.Now()))
		}
		if want := []Kind{LeaseHeld, Joined, Stopped, LeaseLost, LeaseHeld}; !slices.Equal(events, want) {
			t.Errorf("events %v, want %v", events, want)
		}
	})
}

func TestAPauseShowsBeforeAnybodyHasLooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		m.look()
		time.Sleep(5 * time.Second)
		if n := m.Pauses(backstay.Now()); n != 0 {
			t.Errorf("%d pauses", n)
		}
		time.Sleep(time.Millisecond)
		if n := m.Pauses(backstay.Now()); n != 1 {
			t.Errorf("%d pauses", n)
		}
		if m.look(); m.Pauses(backstay.Now()) != 1 {
			t.Errorf("%d pauses", m.Pauses(backstay.Now()))
		}
	})
}

func TestWhoWasRemovedOwnsNothingAndComesBackAsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		m.granted(parts("t", 3), backstay.Now())
		former, changed := m.instance(), owns(t, m, nil, 3)
		m.group.react(sarama.ErrUnknownMemberId)
		owns(t, m, changed)
		beats, _ := m.due()
		if len(beats) != 2 || beats[0].ID != former || !beats[0].Gone || beats[1].ID == former || beats[1].Gone {
			t.Errorf("beats %v", beats)
		}
		if beats, _ = m.due(); len(beats) != 1 {
			t.Errorf("then %v", beats)
		}
	})
}

func TestWhoComesBackAsAnotherJoinsWhenThatOneIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		former := m.instance()
		m.hear(beatOf(former, 200), 1000)
		if err := m.audible(t.Context()); err != nil {
			t.Fatal(err)
		}
		m.group.react(sarama.ErrFencedInstancedId)
		heard := make(chan error, 1)
		go func() { heard <- m.audible(t.Context()) }()
		m.hear(beatOf(former, 200), 1200)
		synctest.Wait()
		if len(heard) > 0 {
			t.Error("it joins because the former was heard")
		}
		m.hear(beatOf(m.instance(), 200), 1400)
		if err := <-heard; err != nil {
			t.Error(err)
		}
	})
}

func TestTheGroupIsLookedAtForGhostsByWhoHasHeardLately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		hear := func(sent backstay.Instant) {
			for at := int64(1000); at <= 5000; at += 200 {
				m.hear(&beat{Version: 1, ID: m.self, Every: 200, Sent: int64(sent)}, at)
			}
		}
		old := backstay.Now()
		time.Sleep(time.Second)
		hear(old)
		if m.judge([]string{"a"}); m.swept || len(m.alarm) > 0 {
			t.Error("swept by one that reads what was")
		}
		hear(backstay.Now())
		if m.judge([]string{"a"}); !m.swept || len(m.alarm) != 1 || !m.uneasy() {
			t.Error("not swept")
		}
		hear(backstay.Now())
		if dead, why := m.judge([]string{"a"}); !slices.Equal(dead, []string{"a"}) || why["a"] != "ghost" {
			t.Errorf("%q, because of %q", dead, why)
		}
	})
}

func TestASecondLeaveWaitsNoLongerThanItMay(t *testing.T) {
	m := unconnected(new([]Kind))
	m.leave.begun.Store(true) // by another, who is not done
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Leave(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(m.leave.done)
	if err := m.Leave(t.Context()); err != nil {
		t.Errorf("%v, when the first is done", err)
	}
}

func TestARemovalTellsWhatTheGroupHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		var told []string
		m.config.Observe = func(e Event) { told = append(told, e.String()) }
		want := m.instance() + ": removed: " + sarama.ErrFencedInstancedId.Error()
		m.group.react(sarama.ErrFencedInstancedId)
		if !slices.Equal(told, []string{want}) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

func TestOnlyWhatChangesIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := unconnected(new([]Kind))
		m.granted(parts("t", 3), backstay.Now())
		_, changed := m.Assigned()
		m.granted(parts("t", 3), backstay.Now())
		m.confirmed(backstay.Now())
		select {
		case <-changed:
			t.Error("told")
		default:
		}
	})
}

func TestWhatAnErrorMeans(t *testing.T) {
	for err, want := range map[error]verdict{
		sarama.ErrRebalanceInProgress: rejoin, sarama.ErrIllegalGeneration: rejoin,
		sarama.ErrUnknownMemberId: reborn, sarama.ErrFencedInstancedId: reborn,
		sarama.ErrNotCoordinatorForConsumer: elsewhere, sarama.ErrOffsetsLoadInProgress: elsewhere, errors.New("EOF"): elsewhere,
	} {
		if got := verdictOn(err); got != want {
			t.Errorf("%v means %d, want %d", err, got, want)
		}
	}
	if !hopeless(sarama.ErrInvalidSessionTimeout) || hopeless(sarama.ErrOffsetsLoadInProgress) {
		t.Error("what is hopeless is not, or the reverse")
	}
}

func TestInstancesAreNewAndWhatKafkaAllows(t *testing.T) {
	a, b := newInstance("häuschen/1 "), newInstance("häuschen/1 ")
	if a == b || a[:11] != "h-uschen-1-" {
		t.Errorf("%q, %q", a, b)
	}
	if long := newInstance(string(make([]byte, 1000))); len(long) > 249 {
		t.Errorf("%d characters", len(long))
	}
}
