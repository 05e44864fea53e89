package runtime_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// run is a method, as tests write it.
type run = func(ctx context.Context, a *runtime.Attempt) runtime.End

// cluster is a log and the nodes on it.
type cluster struct {
	*testing.T
	log   journal.Log
	mu    sync.Mutex
	nodes []*runtime.Node
	heard []runtime.Event
}

func newCluster(t *testing.T, partitions uint32) *cluster {
	return &cluster{T: t, log: memory.New(memory.WithPartitions(partitions))}
}

// open starts a node that hosts the types; it is stopped with the test.
func (c *cluster) open(types ...runtime.Type) *runtime.Node {
	return c.openWith(runtime.Config{Name: "node", DeadTopic: "dead"}, types...)
}

func (c *cluster) openWith(config runtime.Config, types ...runtime.Type) *runtime.Node {
	c.Helper()
	config.Types = types
	if config.Observe == nil {
		config.Observe = func(e runtime.Event) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.heard = append(c.heard, e)
		}
	}
	n, err := runtime.Open(c.Context(), c.log, config)
	if err != nil {
		c.Fatal(err)
	}
	c.nodes = append(c.nodes, n)
	return n
}

// stop stops all nodes, as every test of a bubble must.
func (c *cluster) stop() {
	for _, n := range c.nodes {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := n.Stop(ctx); err != nil {
			c.Error(err)
		}
		cancel()
	}
}

// hosting is a type named "t" with these methods.
func hosting(methods map[string]run) runtime.Type {
	return named("t", methods)
}

func named(name string, methods map[string]run) runtime.Type {
	t := runtime.Type{Name: name, Methods: make(map[string]runtime.Method)}
	for n, m := range methods {
		t.Methods[n] = runtime.Method{Run: m}
	}
	return t
}

func actor(typ, id string) record.Address { return record.Address{Type: typ, Actor: id} }

// call calls a method of an actor of type "t".
func call(ctx context.Context, n *runtime.Node, id, method, arg string) (string, error) {
	return result(n.Call(ctx, runtime.ClientCall{Target: actor("t", id), Method: method, Args: []byte(arg)}))
}

func (c *cluster) call(n *runtime.Node, id, method, arg string) string {
	c.Helper()
	v, err := call(c.Context(), n, id, method, arg)
	if err != nil {
		c.Fatalf("%s.%s: %v", id, method, err)
	}
	return v
}

func (c *cluster) tell(n *runtime.Node, id, method, arg string) {
	c.Helper()
	if err := n.Tell(c.Context(), runtime.ClientCall{Target: actor("t", id), Method: method, Args: []byte(arg)}); err != nil {
		c.Fatal(err)
	}
}

// result makes a failure an error.
func result(r record.Result, err error) (string, error) {
	if err == nil && r.Failure != nil {
		err = failure{*r.Failure}
	}
	return string(r.Value), err
}

type failure struct{ record.Failure }

func (f failure) Error() string { return f.Code + ": " + f.Message }

func code(err error) string {
	if f, ok := errors.AsType[failure](err); ok {
		return f.Code
	}
	return ""
}

// value ends a method.
func value(v string) runtime.End { return runtime.End{Result: record.Result{Value: []byte(v)}} }

func failed(code string) runtime.End {
	return runtime.End{Result: record.Result{Failure: &record.Failure{Code: code}}}
}

func again(reason string) runtime.End { return runtime.End{Retry: &runtime.Retry{Reason: reason}} }

func tailSelf(method, arg string) runtime.End {
	return runtime.End{Outcome: record.TailSelf, Tail: &record.Call{Method: method, Args: []byte(arg)}}
}

func tailTo(to record.Address, method, arg string) runtime.End {
	return runtime.End{Outcome: record.TailOther, Tail: &record.Call{Target: to, Method: method, Args: []byte(arg)}}
}

func args(a *runtime.Attempt) string { return string(a.Request().Args) }

// nested calls and waits.
func nested(ctx context.Context, a *runtime.Attempt, to record.Address, method, arg string) (string, error) {
	p, err := a.Go(record.Call{Target: to, Method: method, Args: []byte(arg)})
	if err != nil {
		return "", err
	}
	return result(p.Await(ctx))
}

// count reads a cell that is a number.
func count(ctx context.Context, a *runtime.Attempt, name string) int {
	b, _, err := a.Cell(ctx, name)
	if err != nil {
		return -1
	}
	n, _ := strconv.Atoi(string(b))
	return n
}

func set(a *runtime.Attempt, name string, n int) { _ = a.Set(name, []byte(strconv.Itoa(n))) }
