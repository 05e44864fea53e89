package policyfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// subscriber is somebody who wants to know of one target.
type subscriber struct {
	name  string
	tell  func(middleware.Target)
	told  middleware.Target // what it knows; of the Live's goroutine, once it is subscribed
	known bool              // there was such a target
}

// Subscribe returns the target called name as it is now, and calls f with it
// whenever it has become another one, until cancel is called. A change of other
// targets, of comments, or of where a value comes from is none; nor does a
// target that goes change anything, so what was built from it keeps its last
// policies. Changes between this call and the use of what it returns are not
// lost: f gets them.
//
// The calls of f are made one after the other, on a goroutine that the Live
// waits for. f may panic, which the observer is told. After cancel f is not
// called any longer, unless a call is under way.
func (l *Live) Subscribe(name string, f func(middleware.Target)) (current middleware.Target, cancel func()) {
	s := &subscriber{name: name, tell: f}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.Policies()
	s.told, s.known = p.Lookup(name)
	l.subscribers = append(l.subscribers, s)
	return p.Target(name), func() { l.unsubscribe(s) }
}

func (l *Live) unsubscribe(s *subscriber) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subscribers = slices.DeleteFunc(l.subscribers, func(other *subscriber) bool { return other == s })
}

// notify calls the subscribers whose targets are others in p.
func (l *Live) notify(ctx context.Context, p *Policies) {
	l.mu.Lock()
	all := slices.Clone(l.subscribers)
	l.mu.Unlock()
	for _, s := range all {
		t, ok := p.targets[s.name]
		if !ok || s.known && same(s.told, *t.Target) || !l.subscribed(s) {
			continue
		}
		s.told, s.known = clone(*t.Target), true
		l.call(ctx, s, clone(*t.Target))
	}
}

func (l *Live) subscribed(s *subscriber) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.subscribers, s)
}

// call calls a subscriber.
func (l *Live) call(ctx context.Context, s *subscriber, t middleware.Target) {
	apart(func() {
		defer func() {
			if v := recover(); v != nil {
				l.emit(ctx, s.name, backstay.Event{
					Kind: backstay.CallbackPanicked,
					Err:  fmt.Errorf("policyfile: subscriber to %s panicked: %v", s.name, v),
				})
			}
		}()
		s.tell(t)
	})
}
