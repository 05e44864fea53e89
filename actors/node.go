package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/internal/drain"
)

// The defaults of a [Config].
const (
	DefaultWindow      = 5 * time.Minute
	DefaultDeadLetters = "dead"
)

// Config is that of a [Node]. The zero value is the default.
type Config struct {
	// Name is for people, in reports. Empty means "node".
	Name string
	// Codec encodes arguments, results and values; nil means [JSON]. It is the
	// same in all processes of an application.
	Codec Codec
	// Window is how long the answer of a root call is kept after its last
	// request, for those who ask again with the same key. It is fixed by the
	// first process that ever owned a log. 0 means [DefaultWindow].
	Window time.Duration
	// Interceptors run round every method, the first one outermost.
	Interceptors []Interceptor
	// Tracer makes spans and carries their context along; nil means none. That
	// of OpenTelemetry is in package otelmw.
	Tracer Tracer
	// Observer is told what happens; nil means nobody. It is told in the middle
	// of a partition's work, so it must not wait for actors: to call one, begin a
	// goroutine. It may panic, or end the goroutine that it is called on.
	Observer backstay.Observer
	// DeadLetters is the ordinary topic for what was given up: tells that expired,
	// requests that failed too often. Empty means [DefaultDeadLetters].
	DeadLetters string
	// State keeps the cells of actors, for states that are large beside what
	// changes of them; nil keeps them with the log's snapshots. It is the same in
	// all processes of an application, from the first snapshot on: a process with
	// another one does not own what has one.
	State StateStore
	// OnDeadLetter is told of every dead letter that this process writes, on a
	// goroutine of the node each; ctx is one of the node's, and ends when it is
	// stopped. At least once: after a failure the next owner may write the letter
	// again ([DeadLetter.CopyKey]). The topic is what counts, this is for alarms
	// and repairs. nil means nobody.
	OnDeadLetter func(ctx context.Context, d DeadLetter)
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c Config) Validate() error {
	return backstay.Check(backstay.Setting{
		Path: "window", Value: c.Window, Valid: c.Window == 0 || c.Window >= time.Second,
		Allowed: "must be at least 1s, or 0 for the default of 5m",
	})
}

// Node is this process's part of an application of actors: it owns actors of
// the types it hosts, and calls actors wherever they are. It is safe for
// concurrent use.
type Node struct {
	codec        Codec
	interceptors []Interceptor
	tracer       Tracer
	observer     backstay.Observer
	onDead       func(ctx context.Context, d DeadLetter)
	runtime      *runtime.Node
	roots        drain.Group     // calls from outside begun with Go, and timers
	ctx          context.Context //nolint:containedctx // that of the node's own life
	cancel       context.CancelFunc
}

// Open joins the processes of an application on log, hosting these types, none
// for a process that only calls. ctx bounds the opening only. Stop the node
// when it is no longer needed; the log is the caller's to close.
func Open(ctx context.Context, c Config, log Log, hostings ...Hosting) (*Node, error) {
	if log == nil {
		return nil, errors.New("actors: Open needs a log")
	}
	n := &Node{codec: c.Codec, interceptors: c.Interceptors, tracer: c.Tracer, observer: c.Observer, onDead: c.OnDeadLetter}
	if n.codec == nil {
		n.codec = JSON{}
	}
	types, err := n.host(hostings)
	if err := errors.Join(c.Validate(), err); err != nil {
		return nil, err
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.ctx = context.WithValue(n.ctx, nodeKey{}, n)
	_, err = runtime.Open(ctx, log, runtime.Config{
		Name: cmp.Or(c.Name, "node"), Types: types, Window: cmp.Or(c.Window, DefaultWindow),
		DeadTopic: cmp.Or(c.DeadLetters, DefaultDeadLetters), Observe: n.watcher(), Dead: n.mourner(),
		State: c.State, Opened: func(r *runtime.Node) { n.runtime = r },
	})
	if err != nil {
		n.cancel()
		return nil, err
	}
	return n, nil
}

// host checks the types and turns them into what the runtime takes.
func (n *Node) host(hostings []Hosting) ([]runtime.Type, error) {
	types := make([]runtime.Type, 0, len(hostings))
	seen := make(map[string]bool)
	var faults []error
	for i := range hostings {
		name := hostings[i].name
		if seen[name] {
			faults = append(faults, fmt.Errorf("actors: type %q is hosted twice", name))
		}
		seen[name] = true
		t, err := hostings[i].build(n)
		types, faults = append(types, t), append(faults, err)
	}
	return types, errors.Join(faults...)
}

// Context returns ctx with the node: calls from outside of methods that are
// made with it go through the node.
func (n *Node) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, nodeKey{}, n)
}

// Stop begins no further methods, lets those that run end, hands its actors
// over, and returns when nothing of the node is left. If ctx ends before, it
// cuts short what still runs, as a failure of the process would: others
// retry it. Calls of the node's clients end with [ErrStopped]; their requests
// may run yet.
func (n *Node) Stop(ctx context.Context) error {
	n.cancel()
	err := n.runtime.Stop(ctx)
	return errors.Join(err, n.roots.Close(context.WithoutCancel(ctx))) // which have ended, or do now
}

func (n *Node) call(ctx context.Context, o *outgoing) (record.Result, error) {
	if n.tracer == nil {
		return n.sendCall(ctx, o)
	}
	traced := *o // it escapes, and o need not
	return n.requested(ctx, &traced, Invocation{}, (*Node).sendCall)
}

func (n *Node) sendCall(ctx context.Context, o *outgoing) (record.Result, error) {
	c, err := n.client(ctx, ctx, o)
	if err != nil {
		return record.Result{}, err
	}
	result, err := n.runtime.Call(ctx, c)
	return result, n.hosted(o.failed(err))
}

func (n *Node) read(ctx context.Context, o *outgoing) (record.Result, error) {
	if n.tracer == nil {
		return n.sendRead(ctx, o)
	}
	traced := *o
	return n.requested(ctx, &traced, Invocation{Query: true}, (*Node).sendRead)
}

func (n *Node) sendRead(ctx context.Context, o *outgoing) (record.Result, error) {
	c, err := n.client(ctx, ctx, o)
	if err != nil {
		return record.Result{}, err
	}
	result, err := n.runtime.Read(ctx, c)
	return result, n.hosted(o.failed(err))
}

// tell sends a root that nobody waits for; it takes no deadline from ctx (A65).
func (n *Node) tell(ctx context.Context, o *outgoing) error {
	if n.tracer == nil {
		_, err := n.sendTell(ctx, o)
		return err
	}
	traced := *o
	_, err := n.requested(ctx, &traced, Invocation{Tell: true}, (*Node).sendTell)
	return err
}

func (n *Node) sendTell(ctx context.Context, o *outgoing) (record.Result, error) {
	c, err := n.client(ctx, context.Background(), o)
	if err != nil {
		return record.Result{}, err
	}
	return record.Result{}, o.failed(n.runtime.Tell(ctx, c))
}

// background runs what no caller waits for, until the node is stopped.
func (n *Node) background(f func(ctx context.Context) error) {
	if !n.roots.Add() {
		return
	}
	defer n.roots.Done()
	if err := f(n.ctx); err != nil && n.ctx.Err() == nil && n.observer != nil {
		s := backstay.Scope{Policy: "actors", Observer: n.observer}
		s.Emit(n.ctx, backstay.Event{Kind: backstay.OutputLost, Err: err})
	}
}
