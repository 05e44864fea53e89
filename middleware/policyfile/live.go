package policyfile

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// What an observer of a [Live] is told, beside the events of calls. Policy is
// the path of the file, or in the last four the name of the target or of the
// server.
const (
	PoliciesLoaded   = middleware.PoliciesLoaded
	PoliciesRefused  = middleware.PoliciesRefused
	PolicyAdded      = middleware.PolicyAdded
	PolicyChanged    = middleware.PolicyChanged
	PolicyRemoved    = middleware.PolicyRemoved
	PolicyNotApplied = middleware.PolicyNotApplied
)

// DefaultEvery is how often a [Live] looks at its file.
const DefaultEvery = 2 * time.Second

// Live follows a policy file. It always has policies: a version that cannot be
// read, or has faults, is told to the observer and changes nothing, and the
// next good one takes effect. It is safe for concurrent use.
type Live struct {
	path     string
	every    time.Duration
	signals  []os.Signal
	observer backstay.Observer

	current atomic.Pointer[Policies]
	fault   atomic.Pointer[error] // why the newest version is not in force
	demands chan demand
	hangup  chan os.Signal
	cancel  context.CancelFunc
	done    chan struct{} // closed when the goroutine is gone

	seen []byte // the newest version, good or bad; of the goroutine alone

	mu          sync.Mutex
	subscribers []*subscriber
}

// demand asks for a look at the file, now.
type demand struct {
	answer chan error
}

// Option changes how a [Live] follows its file.
type Option func(*Live)

// WithObserver tells o when the file changes; see [PoliciesLoaded].
func WithObserver(o backstay.Observer) Option {
	return func(l *Live) { l.observer = backstay.Observers(l.observer, o) }
}

// WithEvery makes the Live look at its file so often; zero and less only on a
// signal or by [Live.Reload]. Default [DefaultEvery].
func WithEvery(d time.Duration) Option { return func(l *Live) { l.every = d } }

// WithSignals makes the Live look at its file when the process gets one of the
// signals, or on none. Default SIGHUP.
func WithSignals(s ...os.Signal) Option { return func(l *Live) { l.signals = s } }

// Watch loads the file at path, and follows it until ctx ends or the Live is
// closed. A file that is not good to begin with is an error, as with [Load].
func Watch(ctx context.Context, path string, options ...Option) (*Live, error) {
	l := &Live{
		path: path, every: DefaultEvery, signals: []os.Signal{syscall.SIGHUP},
		demands: make(chan demand), hangup: make(chan os.Signal, 1), done: make(chan struct{}),
	}
	for _, o := range options {
		o(l)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	first, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	l.seen = data
	l.current.Store(first)
	ctx, l.cancel = context.WithCancel(ctx)
	if len(l.signals) > 0 {
		signal.Notify(l.hangup, l.signals...) // not later: a SIGHUP that comes first ends the process
	}
	go l.run(ctx)
	return l, nil
}

// Close ends the following and waits for what is under way. The policies stay
// as they are. It must not be called by a subscriber or an observer.
func (l *Live) Close() {
	l.cancel()
	<-l.done
}

// Policies returns the version in force.
func (l *Live) Policies() *Policies { return l.current.Load() }

// Target returns the target called name as it is now; see [Policies.Target].
func (l *Live) Target(name string) middleware.Target { return l.Policies().Target(name) }

// Server returns the server as it is now; see [Policies.Server].
func (l *Live) Server() middleware.Server { return l.Policies().Server() }

// Match returns the target, as it is now, that q belongs to; see
// [Policies.Match].
func (l *Live) Match(q Request) *middleware.Target { return l.Policies().Match(q) }

// All calls f for every target as it is now; see [Policies.All].
func (l *Live) All(f func(*middleware.Target) bool) { l.Policies().All(f) }

// Err returns why the newest version of the file is not in force; nil if it is.
func (l *Live) Err() error {
	if e := l.fault.Load(); e != nil {
		return *e
	}
	return nil
}

// Reload looks at the file now, and returns what [Live.Err] then does, when all
// subscribers have been called. It must not be called by a subscriber or an
// observer.
func (l *Live) Reload(ctx context.Context) error {
	d := demand{make(chan error, 1)}
	select {
	case l.demands <- d:
	case <-l.done:
		return fmt.Errorf("policyfile: %s is not followed any longer", l.path)
	case <-ctx.Done():
		return backstay.ContextError(ctx)
	}
	select {
	case err := <-d.answer:
		return err
	case <-ctx.Done():
		return backstay.ContextError(ctx)
	}
}

// run is the goroutine of a Live, the only one that replaces policies.
func (l *Live) run(ctx context.Context) {
	defer close(l.done)
	var tick <-chan time.Time
	if l.every > 0 {
		t := time.NewTicker(l.every)
		defer t.Stop()
		tick = t.C
	}
	defer signal.Stop(l.hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			l.look(ctx)
		case <-l.hangup:
			l.look(ctx)
		case d := <-l.demands:
			l.look(ctx)
			d.answer <- l.Err()
		}
	}
}

// look reads the file and, if it is another one than before, puts it in force.
// It is small: comparing all of it costs less than to be wrong about a time of
// modification, or about a link that leads elsewhere by now.
func (l *Live) look(ctx context.Context) {
	data, other, err := l.settled(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		if known := l.Err(); known == nil || known.Error() != err.Error() {
			l.refuse(ctx, err)
		}
		l.seen = nil // if it comes back as it was, it is good again
		return
	case !other:
		return
	}
	l.seen = data
	next, err := Parse(l.path, data)
	if err != nil {
		l.refuse(ctx, err)
		return
	}
	before := l.current.Swap(next)
	l.fault.Store(nil)
	l.emit(ctx, l.path, backstay.Event{Kind: PoliciesLoaded})
	for _, c := range changes(before, next) {
		l.emit(ctx, c.name, backstay.Event{Kind: c.kind})
	}
	l.notify(ctx, next)
}

func (l *Live) refuse(ctx context.Context, err error) {
	l.fault.Store(&err)
	l.emit(ctx, l.path, backstay.Event{Kind: PoliciesRefused, Err: err})
}

func (l *Live) emit(ctx context.Context, name string, e backstay.Event) {
	s := backstay.Scope{Policy: name, Observer: l.observer}
	if !s.Silent() {
		apart(func() { s.Emit(ctx, e) })
	}
}

// apart calls f on a goroutine of its own, which f may exit, and waits for it:
// what others write must not end the following.
func apart(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
