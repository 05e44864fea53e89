package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/bench/internal/marked"
	"github.com/backstay-go/backstay/retry"
)

// hold takes as long as its process lives.
var hold = actors.Declare[int, int](counter, "hold")

// mailboxes is how many actors of a partition have the requests that wait; the
// first of each runs.
const mailboxes = 8

// past is what was before an owner died.
type past struct {
	calls      int // that were answered, of each partition, in units of -history
	partitions uint32
	waiting    int // requests of each partition
}

// pasts are those that takeovers are timed after.
var pasts = []past{
	{calls: 1, partitions: 1, waiting: 100},
	{calls: 10, partitions: 1, waiting: 100},
	{calls: 100, partitions: 1, waiting: 100},
	{calls: 10, partitions: 4, waiting: 100},
	{calls: 10, partitions: 1, waiting: 1000},
	{calls: 10, partitions: 1, waiting: 10_000},
}

// lost is the partition that is taken over.
var lost = journal.Partition{Type: counter.Name()}

// BenchmarkRecovery times takeovers of one partition after different pasts, on
// the clusters that it is asked for. It does so once, however often it is told
// to.
func BenchmarkRecovery(b *testing.B) {
	var found []recovered
	before := load()
	inEach(b, marked.Recovery, func(b *testing.B, title string, at cluster) {
		b.Helper()
		r := recovered{title: title}
		for i, p := range pasts {
			all, err := p.recover(b.Context(), at, i)
			if err != nil {
				b.Fatal(err)
			}
			r.takeovers = append(r.takeovers, middle(all))
		}
		r.report(b)
		found = append(found, r)
	}, func() string { return recoveryTable(found, before) })
}

// recover has an owner of all partitions live through the past and die, and then
// one owner of the first partition after the other.
func (p past) recover(ctx context.Context, at cluster, number int) ([]inspect.Takeover, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	c := kafka.Config{
		App: fmt.Sprintf("recovery%d", number), Brokers: at.Brokers, Sarama: settings(), Replication: at.Replicas,
		Types: map[string]uint32{"counter": p.partitions},
	}
	if err := kafka.Setup(ctx, c); err != nil {
		return nil, err
	}
	first, err := own(ctx, c, 0, p.partitions)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.live(ctx, first), first.die()); err != nil {
		return nil, err
	}
	others, err := own(ctx, c, 1, p.partitions) // they live on
	if err != nil {
		return nil, err
	}
	var all []inspect.Takeover
	for range *takeovers {
		next, err := own(ctx, c, 0, 1)
		if err != nil {
			return nil, errors.Join(err, others.die())
		}
		all = append(all, next.took)
		if err := next.die(); err != nil {
			return nil, errors.Join(err, others.die())
		}
	}
	return all, others.die()
}

// window is for how long answers are kept, at the least.
const window = time.Second

// aftermath is how many calls of a partition come after its last snapshot, so
// that all pasts end at the same place between two.
const aftermath = 1000

// live makes calls, and then requests that will wait.
func (p past) live(ctx context.Context, o *owner) error {
	if err := o.calls(ctx, p.calls**history*int(p.partitions)); err != nil {
		return err
	}
	if o.saved.Load() > 0 {
		if err := p.settle(ctx, o); err != nil {
			return err
		}
	}
	return warm(ctx, operation{"hold", func(ctx context.Context, caller int) error {
		actor := counter.Ref(fmt.Sprint("held", caller%(mailboxes*int(p.partitions))))
		return hold.Tell(o.node.Context(ctx), actor, 0)
	}}, p.waiting*int(p.partitions))
}

// settle goes on until the partition is as it is after any history. Answers that
// are kept are work that it has: the more there are, the longer it is until the
// next snapshot, so it takes two until one has those of its own interval only.
func (p past) settle(ctx context.Context, o *owner) error {
	for range 2 {
		time.Sleep(3 * window)
		for last := o.saved.Load(); o.saved.Load() == last; {
			if err := o.calls(ctx, 100*int(p.partitions)); err != nil {
				return err
			}
		}
	}
	return o.calls(ctx, aftermath*int(p.partitions))
}

// owner is a process, as far as Kafka can tell, that owns partitions.
type owner struct {
	client
	log   *kafka.Log
	saved atomic.Int64     // snapshots of the partition that others will take over
	took  inspect.Takeover // of its first partition
}

// own opens one that is to own the partitions of a range, without its end, and
// waits until it does.
func own(ctx context.Context, c kafka.Config, from, below uint32) (*owner, error) {
	log, err := kafka.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	on := appointed{Log: log}
	for i := range below - from {
		on.own = append(on.own, journal.Partition{Type: counter.Name(), Index: from + i})
	}
	o := &owner{log: log}
	patient := actors.Settings{StepTimeout: time.Hour, Retry: retry.Config{MaxAttempts: 10_000}}
	o.node, err = actors.Open(ctx, actors.Config{Window: window, Observer: o}, on,
		actors.Host(counter, patient, actors.Handle(increase, add), actors.Handle(hold, holding)))
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	for ctx.Err() == nil {
		all := o.node.Inspect(ctx).Partitions
		waits := slices.ContainsFunc(all, func(p inspect.Partition) bool { return p.Phase != inspect.Owning })
		if len(all) == len(on.own) && !waits {
			if len(all) > 0 {
				o.took = all[0].Takeover
			}
			return o, nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, errors.Join(context.Cause(ctx), o.die())
}

func holding(ctx context.Context, _ actors.Self[counting], _ int) (int, error) {
	<-ctx.Done()
	return 0, actors.Retry(context.Cause(ctx), 0)
}

// Observe counts snapshots.
func (o *owner) Observe(_ context.Context, e backstay.Event) {
	if e.Kind == backstay.SnapshotSaved && e.Key == lost.String() {
		o.saved.Add(1)
	}
}

// calls makes so many, of all callers.
func (o *owner) calls(ctx context.Context, n int) error {
	return warm(ctx, operation{"increase", o.root}, n)
}

// die ends it without a word: what ran is cut short, and nothing is handed over.
func (o *owner) die() error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = o.node.Stop(now) // it says what was cut short
	return o.log.Close()
}
