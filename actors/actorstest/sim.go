package actorstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// Sim is one run of a test: a log, processes that host actors on it, and a client.
// It is safe for concurrent use.
type Sim struct {
	options Options
	began   time.Time
	rng     *rand.Rand
	seed    uint64
	judge   *simtest.Judge
	cluster *simtest.Cluster
	fleet   *simtest.Fleet
	client  *actors.Node
	shop    *simtest.View   // from where messages are published
	ctx     context.Context //nolint:containedctx // that of the client
	work    sync.WaitGroup

	mu       sync.Mutex
	config   actors.Config
	hostings []actors.Hosting
	faults   []string
	settled  bool
}

func newSim(t *testing.T, o Options, seed uint64, faults []simtest.Fault) *Sim {
	s := &Sim{options: o, began: time.Now(), seed: seed, rng: rand.New(rand.NewPCG(seed, 3)), judge: simtest.NewJudge()} //nolint:gosec // to be repeatable
	s.cluster = simtest.New(simtest.Options{Seed: seed, Partitions: o.Partitions, Faults: faults, Judge: s.judge, Silent: true})
	s.shop = s.cluster.Log("shop", -1)
	s.fleet = simtest.NewFleet(s.cluster, s.open)
	s.ctx = t.Context()
	return s
}

// processKey is where a method's context has the process that runs it.
type processKey struct{}

// open starts a process.
func (s *Sim) open(ctx context.Context, v *simtest.View) (simtest.Node, error) {
	s.mu.Lock()
	c, hostings := s.config, s.hostings
	s.mu.Unlock()
	c.Name = v.Name()
	c.Interceptors = append([]actors.Interceptor{func(ctx context.Context, _ actors.Invocation, next func(context.Context) error) error {
		return next(context.WithValue(ctx, processKey{}, v))
	}}, c.Interceptors...)
	return actors.Open(ctx, c, v, hostings...)
}

// Start starts n processes that host these types. Those that die are started
// again after a while.
func (s *Sim) Start(n int, hostings ...actors.Hosting) {
	s.StartWith(n, actors.Config{}, hostings...)
}

// StartWith is Start with a configuration, which is the client's as well.
func (s *Sim) StartWith(n int, c actors.Config, hostings ...actors.Hosting) {
	s.mu.Lock()
	s.config, s.hostings = c, hostings
	s.mu.Unlock()
	client, err := actors.Open(s.ctx, c, s.cluster.Log("client", -1))
	if err != nil {
		s.Fatalf("opening the client: %v", err)
	}
	s.mu.Lock()
	s.client, s.ctx = client, client.Context(s.ctx)
	s.mu.Unlock()
	for p := range n {
		if err := s.fleet.Launch(p); err != nil {
			s.Fatalf("%v", err)
		}
	}
}

// Context is one for calls from outside, by a client that faults do not strike.
func (s *Sim) Context() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx
}

// Go runs a client. Settle waits for it.
func (s *Sim) Go(client func(ctx context.Context)) {
	ctx := s.Context()
	s.work.Go(func() { client(ctx) })
}

// Seed is the run's.
func (s *Sim) Seed() uint64 { return s.seed }

// Rand are random numbers that follow from the seed, for the test's own
// goroutine.
func (s *Sim) Rand() *rand.Rand { return s.rng }

// Point is a point of a method's code, given the method's ctx, at which the
// process may die: then the method's goroutine ends there. What a method does to
// the world outside should be between two points.
func (s *Sim) Point(ctx context.Context, name string) {
	v, ok := ctx.Value(processKey{}).(*simtest.View)
	if ok && !v.Point(name) {
		goruntime.Goexit()
	}
}

// Kill ends all processes that run now. Others are started in their places after
// a while.
func (s *Sim) Kill() {
	for _, v := range s.fleet.Views() {
		v.Kill()
	}
}

// Settle lets the faults that are left happen until Span is over, then none any
// more, and waits until all clients have returned and all requests have ended. It
// fails if they do not.
func (s *Sim) Settle() {
	s.mu.Lock()
	again := s.settled || s.client == nil
	s.settled = true
	s.mu.Unlock()
	if again {
		return
	}
	time.Sleep(s.options.Span - time.Since(s.began))
	s.cluster.Heal()
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	const limit = 15 * time.Minute
	select {
	case <-done:
	case <-time.After(limit):
		s.Errorf("clients still wait after %v", limit)
	}
	if left := s.cluster.Wait(limit); left != "" {
		s.Errorf("P4: this has not ended:\n%s", left)
	}
}

// stop ends everything.
func (s *Sim) stop() {
	for _, err := range s.fleet.Stop() {
		s.Errorf("%v", err)
	}
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client != nil {
		_ = client.Stop(context.Background()) // it has nothing to hand over
	}
	s.work.Wait()
	s.cluster.Close()
}

// Errorf notes a fault of this run; the test goes on.
func (s *Sim) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// Fatalf notes a fault and ends the calling goroutine.
func (s *Sim) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	goruntime.Goexit()
}

// bad is all that went wrong.
func (s *Sim) bad() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(s.judge.Faults(), s.faults...)
}
