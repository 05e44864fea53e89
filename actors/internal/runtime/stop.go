package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
)

// grace is what methods get to return after their contexts were cancelled.
const grace = 100 * time.Millisecond

// Stop begins nothing more that has no caller running, lets what runs end,
// hands the partitions over and leaves. When ctx ends first, the contexts of
// methods are cancelled, and the error names those that did not return within
// 100 ms of that. It does not close the log. Stopping again does nothing.
func (n *Node) Stop(ctx context.Context) error {
	n.mu.Lock()
	again := n.stopped
	n.stopped = true
	n.mu.Unlock()
	if again {
		return nil
	}
	n.clients.refuse()
	var errs []error
	if n.membership != nil {
		errs = append(errs, n.stopOwners(ctx))
	}
	n.clients.close()
	n.mute()
	return errors.Join(errs...)
}

// stopOwners drains the owners, leaves, and waits for what still runs.
func (n *Node) stopOwners(ctx context.Context) error {
	close(n.stopping)
	n.assigning.Wait()
	var errs []error
	if !n.drained(ctx) {
		errs = append(errs, fmt.Errorf("runtime: stopping before all methods have returned: %w", backstay.ContextError(ctx)))
	}
	n.cancel()
	for _, o := range n.all() {
		<-o.ended
	}
	errs = append(errs, n.membership.Leave(ctx), n.awaitLingering(ctx))
	return errors.Join(errs...)
}

// drained waits until every owner has handed its partition over.
func (n *Node) drained(ctx context.Context) bool {
	for _, o := range n.all() {
		select {
		case <-o.ended:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// all are the owners, by partition.
func (n *Node) all() []*owner {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]*owner, 0, len(n.owners))
	for _, o := range n.owners {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *owner) int { return strings.Compare(sortable(a.self), sortable(b.self)) })
	return all
}

// linger keeps an incarnation that has ended while methods of it run.
func (n *Node) linger(inc *incarnation) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lingering = slices.DeleteFunc(n.lingering, func(old *incarnation) bool { return old.methods.Len() == 0 })
	if inc.methods.Len() > 0 {
		n.lingering = append(n.lingering, inc)
	}
}

// awaitLingering waits for methods whose contexts are cancelled, a little beyond
// ctx, and names those that do not return.
func (n *Node) awaitLingering(ctx context.Context) error {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	n.mu.Lock()
	lingering := slices.Clone(n.lingering)
	n.mu.Unlock()
	var names []string
	for _, inc := range lingering {
		if inc.methods.Close(last) != nil {
			names = append(names, inc.unreturned()...)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("runtime: these ignore that their context has ended, and still run: %s", strings.Join(names, ", "))
}

// unreturned names the methods that have not returned, once the loop has ended.
func (inc *incarnation) unreturned() []string {
	var names []string
	for _, a := range inc.work {
		if a == resolving {
			continue
		}
		a.mu.Lock()
		if !a.over {
			names = append(names, a.request.Target.Type+"/"+a.request.Target.Actor+"."+a.request.Method)
		}
		a.mu.Unlock()
	}
	if len(names) == 0 {
		names = append(names, fmt.Sprintf("a hook or shared method of %v", inc.self))
	}
	return names
}
