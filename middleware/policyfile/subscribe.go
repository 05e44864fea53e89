package policyfile

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// subscriber is somebody who wants to know of one target, or of the server.
type subscriber struct {
	name string
	// news returns what calls the subscriber, if p has something other for it
	// than it knows; else nil. It is of the Live's goroutine.
	news func(p *Policies) (call func())
}

// newSubscriber returns one that calls f with what find finds, and knows what
// there is in p.
func newSubscriber[T any](name string, p *Policies, find func(*Policies) (T, bool), f func(T)) *subscriber {
	told, known := find(p)
	return &subscriber{name: name, news: func(p *Policies) func() {
		is, ok := find(p)
		if !ok || known && reflect.DeepEqual(told, is) {
			return nil
		}
		told, known = is, true
		theirs, _ := find(p) // is ours to keep
		return func() { f(theirs) }
	}}
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
	find := func(p *Policies) (middleware.Target, bool) { return p.Lookup(name) }
	p, cancel := subscribe(l, name, find, f)
	return p.Target(name), cancel
}

// SubscribeServer is [Live.Subscribe] for the server. A section that goes
// changes nothing.
func (l *Live) SubscribeServer(f func(middleware.Server)) (current middleware.Server, cancel func()) {
	p, cancel := subscribe(l, "server", (*Policies).LookupServer, f)
	return p.Server(), cancel
}

// subscribe adds a subscriber, and returns the policies that it knows.
func subscribe[T any](l *Live, name string, find func(*Policies) (T, bool), f func(T)) (*Policies, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.Policies()
	s := newSubscriber(name, p, find, f)
	l.subscribers = append(l.subscribers, s)
	return p, func() { l.unsubscribe(s) }
}

func (l *Live) unsubscribe(s *subscriber) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subscribers = slices.DeleteFunc(l.subscribers, func(other *subscriber) bool { return other == s })
}

// notify calls the subscribers for whom p has something other.
func (l *Live) notify(ctx context.Context, p *Policies) {
	l.mu.Lock()
	all := slices.Clone(l.subscribers)
	l.mu.Unlock()
	for _, s := range all {
		if !l.subscribed(s) {
			continue
		}
		if call := s.news(p); call != nil {
			l.call(ctx, s.name, call)
		}
	}
}

func (l *Live) subscribed(s *subscriber) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.subscribers, s)
}

// call calls the subscriber to what is called name.
func (l *Live) call(ctx context.Context, name string, tell func()) {
	apart(func() {
		defer func() {
			if v := recover(); v != nil {
				l.emit(ctx, name, backstay.Event{
					Kind: backstay.CallbackPanicked,
					Err:  fmt.Errorf("policyfile: subscriber to %s panicked: %v", name, v),
				})
			}
		}()
		tell()
	})
}
