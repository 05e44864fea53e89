package runtime

import "testing"

// called reports whether the loop's own goroutine was handed the baton.
func (b *inbox) called() bool {
	select {
	case <-b.signal:
		return true
	default:
		return false
	}
}

func newInbox() *inbox { return &inbox{signal: make(chan struct{}, 1)} }

func TestThereIsOneBaton(t *testing.T) {
	for _, test := range []struct {
		name   string
		do     func(b *inbox) (helps bool)
		called bool // the loop's own goroutine
		helps  bool
	}{
		{"an event calls the loop", func(b *inbox) bool { b.post(endEvent{}); return false }, true, false},
		{"so does the reader", func(b *inbox) bool { b.wake(); return false }, true, false},
		{"who gives drives", func(b *inbox) bool { return b.give(endEvent{}) }, false, true},
		{"who gives does not drive as well", func(b *inbox) bool { b.wake(); return b.give(endEvent{}) }, true, false},
		{"a helper drives", func(b *inbox) bool { b.hold(); b.wake(); return b.help() }, false, true},
		{"a helper that has nothing to do does not", func(b *inbox) bool { b.hold(); return b.help() }, false, false},
		{"of two helpers one drives", func(b *inbox) bool {
			b.hold()
			b.hold()
			b.wake()
			return b.help() && !b.help()
		}, false, true},
		{"a helper that comes too late does not drive", func(b *inbox) bool {
			b.hold()
			b.give(endEvent{})
			return b.help()
		}, false, false},
		{"the timer takes it", func(b *inbox) bool { return b.rise() && !b.give(endEvent{}) }, false, true},
		{"the timer takes nothing from who drives", func(b *inbox) bool { b.give(endEvent{}); return b.rise() }, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newInbox()
			b.invite()
			if !b.lie() {
				t.Fatal("there is something to do at the beginning")
			}
			if helps := test.do(b); helps != test.helps {
				t.Errorf("helps: %v", helps)
			}
			if called := b.called(); called != test.called {
				t.Errorf("called: %v", called)
			}
		})
	}
}

func TestNobodyHelpsWhoWasNotInvited(t *testing.T) {
	b := newInbox()
	b.lie()
	if b.hold() {
		t.Error("help is taken before there is an owner")
	}
	if b.give(endEvent{}) || !b.called() {
		t.Error("a claim was driven by somebody else")
	}
	b.invite()
	b.close()
	if b.hold() {
		t.Error("help is taken after the end")
	}
}

func TestWhatComesBeforeLyingDownIsSeen(t *testing.T) {
	for name, come := range map[string]func(*inbox){
		"an event": func(b *inbox) { b.post(endEvent{}) }, "the reader": (*inbox).wake, "the timer": func(b *inbox) { b.rise() },
	} {
		b := newInbox()
		b.invite()
		if come(b); b.lie() {
			t.Errorf("%s came, and the baton was laid down", name)
		}
	}
}
