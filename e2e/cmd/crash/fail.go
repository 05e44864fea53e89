package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// act makes the processes of a chapter fail, waits until the system has settled
// and fills in the result. An error is that it has not.
type act func(ctx context.Context, c *chapter, random *rand.Rand, r *result) error

var acts = map[string]act{
	"single": single, "paired": paired, "paused": paused, "leave": leave, "snapshot": snapshot, "total": total, "broker": broker, "busy": busy,
}

// points are where a process may die; half of the times it does at none of
// them. See drill.Fuse.
var points = []string{
	"begun order.create,appended order",   // the nested call is on record
	"over order.confirm,appended order",   // the step is on record, its answer not sent
	"over depot.take,appended depot",      // so is a tail call to another actor
	"over order.create",                   // the step is not on record
	"begun voyage.reserve",                // nothing is
	"over pulse.beat,appended pulse",      //
	"begun manager.book,appended manager", //
	"saving",                              // a snapshot
}

// late are where a second one may die, while it takes over.
var late = []string{"member evicted", "member suspected", "manifest", "read", "appended", "partition owned"}

// patient is how long a process may take to get to a point.
const patient = 3 * time.Second

func single(ctx context.Context, c *chapter, random *rand.Rand, r *result) error {
	victim := c.hosts[random.IntN(hosts)]
	r.Point = draw(random, points)
	t := c.watch(r, victim)
	t.from = c.strike(victim, r, time.Now())
	return c.recover(ctx, t, r)
}

// draw is one of them, or none.
func draw(random *rand.Rand, from []string) string {
	if i := random.IntN(2 * len(from)); i < len(from) {
		return from[i]
	}
	return ""
}

func paired(ctx context.Context, c *chapter, random *rand.Rand, r *result) error {
	order := random.Perm(hosts)
	first, second := c.hosts[order[0]], c.hosts[order[1]]
	r.Point = draw(random, late)
	delay := 300*time.Millisecond + within(random, 1200*time.Millisecond)
	t := c.watch(r, first, second)
	if r.Point != "" {
		second.arm(r.Point)
	}
	t.from = first.kill()
	if r.Point == "" {
		time.Sleep(delay)
	}
	c.strike(second, r, t.from)
	return c.recover(ctx, t, r)
}

// strike has a process die at the point of the result, or now, and returns when
// it died.
func (c *chapter) strike(victim *process, r *result, since time.Time) time.Time {
	if r.Point == "" {
		return victim.kill()
	}
	victim.arm(r.Point)
	select {
	case <-victim.ended:
	case <-time.After(patient):
		return victim.kill()
	}
	dies, ok := c.find(since, func(l line) bool { return l.What == "dies" && l.from == victim })
	if !ok {
		return time.Now()
	}
	r.Reached = dies.Point
	return dies.Time
}

func paused(ctx context.Context, c *chapter, random *rand.Rand, r *result) error {
	victim := c.hosts[random.IntN(hosts)]
	t := c.watch(r, victim)
	t.from = victim.signal(syscall.SIGSTOP)
	if err := c.answers(ctx, t); err != nil {
		victim.signal(syscall.SIGCONT)
		return err
	}
	t.to = time.Now()
	time.Sleep(within(random, 2*time.Second)) // others have written meanwhile
	victim.signal(syscall.SIGCONT)
	return c.finish(ctx, t, r)
}

func leave(ctx context.Context, c *chapter, random *rand.Rand, r *result) error {
	victim := c.hosts[random.IntN(hosts)]
	t := c.watch(r, victim)
	t.from = victim.signal(syscall.SIGTERM)
	return c.recover(ctx, t, r)
}

// snapshot has the first die that saves one: each partition does after 10,000
// records.
func snapshot(ctx context.Context, c *chapter, _ *rand.Rand, r *result) error {
	r.Point = "saving"
	began := time.Now()
	for _, p := range c.hosts {
		p.arm(r.Point)
	}
	var dies line
	err := c.await(ctx, 10*time.Minute, func() (why string) {
		var ok bool
		if dies, ok = c.find(began, func(l line) bool { return l.What == "dies" }); !ok {
			why = "nobody has saved a snapshot"
		}
		return why
	})
	for _, p := range c.hosts {
		p.arm("")
	}
	if err != nil {
		return err
	}
	t := c.watch(r, dies.from)
	r.Reached, t.from = dies.Point, dies.Time
	return c.recover(ctx, t, r)
}

func total(ctx context.Context, c *chapter, _ *rand.Rand, r *result) error {
	t := c.watch(r, c.hosts...)
	for _, p := range c.hosts {
		p.signal(syscall.SIGKILL)
	}
	for _, p := range c.hosts {
		<-p.ended
	}
	select {
	case <-time.After(c.run.pause):
	case <-ctx.Done():
	}
	t.from = time.Now()
	for _, p := range slices.Clone(c.hosts) {
		if err := c.again(p); err != nil {
			return err
		}
	}
	if err := c.answers(ctx, t); err != nil {
		return err
	}
	t.to = time.Now()
	return c.finish(ctx, t, r)
}

func broker(ctx context.Context, c *chapter, random *rand.Rand, r *result) error {
	victim := random.IntN(c.run.copies)
	t := c.watch(r)
	t.all = everything()
	t.from = time.Now()
	c.run.cluster.Kill(victim)
	const election = 12 * time.Second // a stock broker is missed after 9 s
	time.Sleep(election)
	if err := c.answers(ctx, t); err != nil {
		return err
	}
	t.to = time.Now()
	c.run.cluster.Restart(victim)
	if err := c.await(ctx, patience, c.run.behind); err != nil {
		return err
	}
	return c.finish(ctx, t, r)
}

// trial is a failure under way.
type trial struct {
	victims  []*process
	names    []string
	all      []string // the partitions that are out
	from, to time.Time
}

// watch notes what was before a failure.
func (c *chapter) watch(r *result, victims ...*process) *trial {
	t := &trial{victims: victims, all: c.owned(victims...)}
	for _, p := range victims {
		t.names = append(t.names, p.name)
	}
	r.Victims, r.Owned, r.At = t.names, len(t.all), time.Now()
	return t
}

// answers waits until all partitions answer again.
func (c *chapter) answers(ctx context.Context, t *trial) error {
	return c.await(ctx, patience, func() string {
		if c.answered(everything(), t.from) {
			return ""
		}
		return "not every partition answers again"
	})
}

// recover waits for the answers, and brings the victims back.
func (c *chapter) recover(ctx context.Context, t *trial, r *result) error {
	if err := c.answers(ctx, t); err != nil {
		return err
	}
	t.to = time.Now()
	for _, p := range t.victims {
		<-p.ended
		if err := c.again(p); err != nil {
			return err
		}
	}
	return c.finish(ctx, t, r)
}

// finish waits until the system has settled, and measures.
func (c *chapter) finish(ctx context.Context, t *trial, r *result) error {
	if err := c.settle(ctx); err != nil {
		return err
	}
	c.heard().measure(t, r, time.Now())
	return nil
}

// measure fills in a result.
func (s *scene) measure(t *trial, r *result, settled time.Time) {
	o := s.outage(t.all, t.names, t.from, t.to)
	r.Outage, r.Phases, r.Last = o.total, o.phases, o.last
	others := slices.DeleteFunc(everything(), func(p string) bool { return slices.Contains(t.all, p) })
	r.Others = s.gap(others, t.from, o.over)
	r.Before = s.gap(everything(), r.At.Add(-time.Second), r.At)
	r.Return = s.gap(everything(), t.to, settled)
	const sampled, around = 20, 5 * time.Second
	for _, c := range s.orders {
		if c.end.After(t.from) && c.begin.Before(o.over) {
			r.Order = max(r.Order, c.took())
		}
		if r.Number%sampled == 1 && c.begin.After(t.from.Add(-around)) && c.begin.Before(t.from.Add(around)) {
			r.Orders = append(r.Orders, sample{c.begin.Sub(t.from), c.took()})
		}
	}
	r.Faults = append(r.Faults, s.wronged(t.names, t.from, settled)...)
}

// within is some time below a bound.
func within(random *rand.Rand, bound time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(bound)))
}
