package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// unruly is a log that drops appends, fails them though they land, loses
// acknowledgements, and lands copies later.
type unruly struct {
	journal.Log
	mu     sync.Mutex
	random *rand.Rand
	calm   bool
	late   sync.WaitGroup
}

func (u *unruly) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	u.mu.Lock()
	fate, delay, calm := u.random.IntN(60), time.Duration(u.random.IntN(3000))*time.Millisecond, u.calm
	u.mu.Unlock()
	if calm {
		fate = 60
	}
	switch fate {
	case 0: // lost
		return
	case 1: // not landed, and said so
		done(journal.Place{}, errors.New("broker away"))
	case 2: // landed, and said not to be
		u.Log.Append(p, data, func(journal.Place, error) { done(journal.Place{}, errors.New("connection reset")) })
	case 3: // landed, and nobody says so
		u.Log.Append(p, data, nothing)
	case 4: // landed, and a copy of it later
		u.Log.Append(p, data, done)
		u.late.Go(func() {
			time.Sleep(delay)
			u.Log.Append(p, data, nothing)
		})
	case 5: // the acknowledgement is slow
		u.Log.Append(p, data, func(at journal.Place, err error) {
			u.late.Go(func() {
				time.Sleep(delay / 10)
				done(at, err)
			})
		})
	default:
		u.Log.Append(p, data, done)
	}
}

// settle makes the log well behaved.
func (u *unruly) settle() {
	u.mu.Lock()
	u.calm = true
	u.mu.Unlock()
}

// mixed is a program with everything in it; "inc" counts exactly.
func mixed() map[string]run {
	methods := counter()
	methods["pair"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
		one, err := a.Go(record.Call{Target: actor("t", "b"), Method: "back", Args: []byte(a.Request().Target.Actor)})
		if err != nil {
			return again(err.Error())
		}
		two, err := a.Go(record.Call{Target: actor("t", "c"), Method: "get"})
		if err != nil {
			return again(err.Error())
		}
		if _, err := two.Await(ctx); err != nil {
			return again(err.Error())
		}
		set(a, "between", 1)
		if _, err := one.Await(ctx); err != nil {
			return again(err.Error())
		}
		_ = a.Tell(record.Call{Target: actor("t", "told"), Method: "inc"})
		return tailSelf("inc", "")
	}
	methods["back"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
		if _, err := nested(ctx, a, actor("t", args(a)), "get", ""); err != nil {
			return again(err.Error())
		}
		return tailTo(actor("t", "d"), "get", "")
	}
	return methods
}

// Acceptance case A23, A54.
func TestA54_ChainsCountExactlyUnderRandomFaults(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { chaos(t, uint64(seed)) })
		})
	}
}

func chaos(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCluster(t, uint32(1+random.IntN(4)))
	defer c.stop()
	typ := hosting(mixed())
	typ.MaxAttempts = 1000
	typ.Backoff = func(uint64) time.Duration { return 50 * time.Millisecond }
	typ.CancelOrphans = random.IntN(2) == 0
	config := func() runtime.Config {
		return runtime.Config{Patience: 2 * time.Second, SnapshotRecords: 1 + random.IntN(60), ClaimBackoff: 50 * time.Millisecond}
	}
	client := c.open()
	const chains = 12
	var all sync.WaitGroup
	for i := range chains {
		all.Go(func() {
			time.Sleep(time.Duration(i) * 400 * time.Millisecond)
			c.call(client, "a", "pair", "")
		})
	}
	var logs []*unruly
	var links []*link
	var dead []*runtime.Node
	right := c.log
	for range 6 {
		u := &unruly{Log: right, random: rand.New(rand.NewPCG(seed, uint64(len(logs))))}
		c.log = u
		l := new(link)
		dead = append(dead, c.openOn(l, config(), typ))
		logs, links = append(logs, u), append(links, l)
		time.Sleep(time.Duration(500+random.IntN(2000)) * time.Millisecond)
		switch random.IntN(3) {
		case 0:
			l.crash()
		case 1: // a zombie, which goes on appending
			l.mu.Lock()
			l.blind = true
			l.mu.Unlock()
			l.evict()
		case 2: // it lives on beside the next
		}
	}
	for _, u := range logs {
		u.settle()
	}
	for _, l := range links {
		l.see()
	}
	c.log = right
	c.openWith(config(), typ)
	all.Wait()
	time.Sleep(2 * time.Minute) // tells
	for _, id := range []string{"a", "told"} {
		if v := c.call(client, id, "get", ""); v != strconv.Itoa(chains) {
			t.Errorf("%s counted %s of %d", id, v, chains)
		}
	}
	for _, u := range logs {
		u.late.Wait()
	}
	for _, n := range dead {
		kill(n)
	}
}

// Acceptance case A24.
func TestA24_ReadingAndWritingElsewhereInOneBodyOverCountsUnderSomeCrash(t *testing.T) {
	over := false
	for n := 1; n < 20 && !over; n++ {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			external := 0
			methods := map[string]run{"inc": func(context.Context, *runtime.Attempt) runtime.End {
				mu.Lock()
				external++ // the step's own state does not know of it
				mu.Unlock()
				return value("")
			}}
			oneCrash(t, 1, methods, func(c *cluster, client *runtime.Node) {
				time.Sleep(time.Millisecond) // until the partition is owned
				c.call(client, "a", "inc", "")
			}, n, false)
			mu.Lock()
			over = over || external > 1
			mu.Unlock()
		})
	}
	if !over {
		t.Error("no crash made it count twice: the faults do not bite")
	}
}
