package simtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Node is a process's part that runs on a view.
type Node interface {
	Stop(ctx context.Context) error
}

// Fleet is processes on a cluster. What crashes is started again.
type Fleet struct {
	cluster *Cluster
	start   func(ctx context.Context, v *View) (Node, error)

	mu      sync.Mutex
	ended   bool
	live    map[*View]Node
	started map[int]int
	errs    []error
	work    sync.WaitGroup
}

// NewFleet returns no processes yet. start starts one on its view.
func NewFleet(c *Cluster, start func(ctx context.Context, v *View) (Node, error)) *Fleet {
	f := &Fleet{cluster: c, start: start, live: make(map[*View]Node), started: make(map[int]int)}
	c.mu.Lock()
	c.crashed = f.crashed
	c.mu.Unlock()
	return f
}

// Launch starts a process and returns when it runs.
func (f *Fleet) Launch(process int) error {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return nil
	}
	f.started[process]++
	name := fmt.Sprintf("%c%d", 'a'+process, f.started[process])
	f.work.Add(1)
	f.mu.Unlock()
	defer f.work.Done()
	v := f.cluster.Log(name, process)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // a process may die while it starts
		for !v.Dead() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		cancel()
	}()
	n, err := f.start(ctx, v)
	if err != nil {
		if !v.Dead() {
			return fmt.Errorf("starting %s: %w", name, err)
		}
		return nil
	}
	f.mu.Lock()
	f.live[v] = n
	late := f.ended // nobody else stops it
	f.mu.Unlock()
	if late || v.Dead() {
		f.bury(v)
	}
	return nil
}

// Views are those of the processes that run.
func (f *Fleet) Views() []*View {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Keys(f.live), func(a, b *View) int { return strings.Compare(a.name, b.name) })
}

// Nodes are those of the processes that run, in the order of [Fleet.Views].
func (f *Fleet) Nodes() []Node {
	var all []Node
	for _, v := range f.Views() {
		f.mu.Lock()
		if n := f.live[v]; n != nil {
			all = append(all, n)
		}
		f.mu.Unlock()
	}
	return all
}

// crashed ends what is left of a dead process, and starts another in its place
// after a while.
func (f *Fleet) crashed(v *View) {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		f.bury(v)
		return
	}
	f.work.Add(1)
	f.mu.Unlock()
	defer f.work.Done()
	f.bury(v)
	v.cluster.mu.Lock()
	d := v.between(10*time.Millisecond, 3*time.Second)
	v.cluster.mu.Unlock()
	time.Sleep(d)
	if err := f.Launch(v.process); err != nil {
		f.mu.Lock()
		f.errs = append(f.errs, err)
		f.mu.Unlock()
	}
}

// bury stops a dead process's goroutines.
func (f *Fleet) bury(v *View) {
	f.mu.Lock()
	n := f.live[v]
	delete(f.live, v)
	if n != nil {
		f.work.Add(1)
	}
	f.mu.Unlock()
	if n == nil {
		return
	}
	defer f.work.Done()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.Stop(ctx) // it is dead: what could not end is nobody's business
}

// Stop stops all.
func (f *Fleet) Stop() []error {
	f.mu.Lock()
	f.ended = true
	live := f.live
	f.live = make(map[*View]Node)
	f.mu.Unlock()
	var wg sync.WaitGroup
	for v, n := range live {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			if err := n.Stop(ctx); err != nil && !v.Dead() {
				f.mu.Lock()
				f.errs = append(f.errs, fmt.Errorf("stopping %s: %w", v.name, err))
				f.mu.Unlock()
			}
		})
	}
	wg.Wait()
	f.work.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errs
}

// Wait waits until nothing is left to be done, and says what is, if it takes
// longer.
func (c *Cluster) Wait(limit time.Duration) string {
	for began := time.Now(); ; time.Sleep(40 * time.Millisecond) {
		left := c.judge.Unfinished()
		switch {
		case left == "", len(c.judge.Faults()) > 0:
			return ""
		case time.Since(began) > limit:
			return left
		}
	}
}
