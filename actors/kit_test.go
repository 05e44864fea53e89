package actors_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/internal/testkit"
)

// Most tests are about things, which can do what the test says.
type thing struct{}

type self = actors.Self[thing]

// none is what methods take and return that need nothing.
type none = struct{}

var Thing = actors.NewType[thing]("thing")

// cluster is a log and the nodes on it, in a bubble of virtual time.
type cluster struct {
	*testing.T
	log   *memory.Log
	heard testkit.Recorder
	nodes []*actors.Node
}

// inBubble runs a test in virtual time; the nodes are stopped at its end.
func inBubble(t *testing.T, test func(c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{T: t, log: memory.New(memory.WithPartitions(4))}
		defer c.stopAll()
		test(c)
	})
}

// things starts a node that hosts things with these methods, and returns the
// context of calls through it.
func (c *cluster) things(methods ...actors.Handler[thing]) context.Context {
	c.Helper()
	return c.on(c.open(actors.Config{}, actors.Host(Thing, actors.Settings{}, methods...)))
}

// thingsWith is things with settings.
func (c *cluster) thingsWith(s actors.Settings, methods ...actors.Handler[thing]) context.Context {
	c.Helper()
	return c.on(c.open(actors.Config{}, actors.Host(Thing, s, methods...)))
}

func (c *cluster) on(n *actors.Node) context.Context { return n.Context(c.Context()) }

func (c *cluster) open(config actors.Config, hostings ...actors.Hosting) *actors.Node {
	c.Helper()
	if config.Observer == nil {
		config.Observer = &c.heard
	}
	n, err := actors.Open(c.Context(), config, c.log, hostings...)
	if err != nil {
		c.Fatal(err)
	}
	c.nodes = append(c.nodes, n)
	return n
}

func (c *cluster) stopAll() {
	for _, n := range c.nodes {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := n.Stop(ctx); err != nil {
			c.Error(err)
		}
		cancel()
	}
}

// crash ends a node as a failure of its process would: what runs on it is cut
// short, and nothing of it is recorded.
func (c *cluster) crash(n *actors.Node) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.Stop(ended) // it says that it was cut short
}

// is fails the test if a call did not end with want.
func (c *cluster) is(err, want error) {
	c.Helper()
	if !errors.Is(err, want) {
		c.Fatalf("got error %v, want %v", err, want)
	}
}

func (c *cluster) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// equal fails the test if a call has not returned want.
func equal[T comparable](c *cluster, got T, err error, want T) {
	c.Helper()
	if err != nil || got != want {
		c.Fatalf("got %v and error %v, want %v", got, err, want)
	}
}

// does is a method that is declared and handled in one go, for those that
// nobody calls from a method.
func does[In, Out any](name string, f func(ctx context.Context, self self, in In) (Out, error)) (actors.Method[In, Out, thing], actors.Handler[thing]) {
	m := actors.Declare[In, Out](Thing, name)
	return m, actors.Handle(m, f)
}

// diary is what methods write outside of their actors.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.lines...)
}

// pass lets time pass, and everybody come to rest, in a bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
