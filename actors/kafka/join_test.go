package kafka

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/actors/kafka/internal/membership"
)

func TestMembershipIsToldToHealthAndToWhoWantsToKnow(t *testing.T) {
	var told []MemberEvent
	l := &Log{config: Config{App: "app", OnMember: func(e MemberEvent) { told = append(told, e) }}}
	down := errors.New("down")
	l.observe(membership.Event{Kind: membership.GroupFailed, Instance: "a-1", Err: down})
	if p := l.vitals.problems(); len(p) != 1 || p[0].Topic != "app.members" || !errors.Is(p[0].Err, down) {
		t.Errorf("%+v", p)
	}
	l.observe(membership.Event{Kind: membership.Evicted, Instance: "b-2", Reason: "ghost"})
	if p := l.vitals.problems(); len(p) != 1 {
		t.Errorf("after an event that says nothing of it: %+v", p)
	}
	l.observe(membership.Event{Kind: membership.Restored, Instance: "a-1", Reason: "group failed"})
	if p := l.vitals.problems(); len(p) != 0 {
		t.Errorf("after it was restored: %+v", p)
	}
	want := []MemberEvent{{Kind: "group failed", Instance: "a-1", Err: down}, {Kind: "evicted", Instance: "b-2", Reason: "ghost"}, {Kind: "restored", Instance: "a-1", Reason: "group failed"}}
	if !slices.Equal(told, want) {
		t.Errorf("%+v", told)
	}
	l.config.OnMember = nil
	l.observe(membership.Event{Kind: membership.Joined})
}

// It is told by the goroutines that keep the membership.
func TestAHookThatPanicsOrEndsItsGoroutineLeavesTheMembershipAlone(t *testing.T) {
	for name, hook := range map[string]func(MemberEvent){
		"it panics":             func(MemberEvent) { panic("the hook's own fault") },
		"it ends its goroutine": func(MemberEvent) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			l := &Log{config: Config{App: "app", OnMember: hook}}
			l.observe(membership.Event{Kind: membership.Joined})
			l.observe(membership.Event{Kind: membership.GroupFailed, Err: errDown})
			if p := l.vitals.problems(); len(p) != 1 {
				t.Errorf("%+v", p)
			}
		})
	}
}
