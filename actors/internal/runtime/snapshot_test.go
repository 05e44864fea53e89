package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// Acceptance case A57, A58.
func TestA58_ReplayIsBoundedWhateverIsStuckAtTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var mu sync.Mutex
		runs := 0
		release := make(chan struct{})
		methods := map[string]run{
			"stuck": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
				select {
				case <-release:
				case <-ctx.Done():
					<-release
				}
				return value("")
			},
			"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				mu.Lock()
				runs++
				mu.Unlock()
				set(a, "n", count(ctx, a, "n")+1)
				return value(strconv.Itoa(count(ctx, a, "n")))
			},
		}
		client := c.open()
		l := new(link)
		config := runtime.Config{SnapshotRecords: 100}
		first := c.openOn(l, config, hosting(methods))
		c.tell(client, "a", "stuck", "")
		for i := range 500 {
			c.call(client, strconv.Itoa(i%7), "inc", "")
			if i%20 == 0 {
				synctest.Wait() // snapshots are saved beside
			}
		}
		synctest.Wait()
		l.crash()
		second := c.openOn(new(link), config, hosting(methods))
		c.nodes = append(c.nodes, second)
		if v := c.call(client, "0", "inc", ""); v != "73" {
			t.Errorf("counted %s", v)
		}
		p := second.Inspect(t.Context()).Partitions[0]
		mu.Lock()
		if runs != 501 || p.Takeover.Records > 120 || p.Takeover.Assigned.IsZero() {
			t.Errorf("ran %d times, replayed %d records: %+v", runs, p.Takeover.Records, p.Takeover)
		}
		mu.Unlock()
		from, _, _ := c.log.Bounds(t.Context(), partition{Type: "t"})
		if from == 0 {
			t.Error("the log was not truncated")
		}
		close(release)
		kill(first)
	})
}

// A snapshot is taken at every record, and owners die all the time.
func TestA54_SnapshotsAtEveryRecordLoseAndDoubleNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		client := c.open()
		methods := counter()
		methods["pair"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			if _, err := nested(ctx, a, actor("t", args(a)), "inc", ""); err != nil {
				return again(err.Error())
			}
			return tailSelf("inc", "")
		}
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 70 * time.Millisecond)
				c.call(client, "a", "pair", "b")
			})
		}
		var dead []*runtime.Node
		for range 8 {
			l := new(link)
			dead = append(dead, c.openOn(l, runtime.Config{SnapshotRecords: 1, ChunkSize: 1 + len(dead)%3*40}, hosting(methods)))
			time.Sleep(333 * time.Millisecond)
			l.crash()
		}
		c.openWith(runtime.Config{SnapshotRecords: 1}, hosting(methods))
		all.Wait()
		if v := c.call(client, "a", "get", ""); v != "30" {
			t.Errorf("a counted %s", v)
		}
		v := c.call(client, "b", "get", "")
		if n, _ := strconv.Atoi(v); n < 30 || n > 38 { // a retried caller calls again
			t.Errorf("b counted %s", v)
		}
		for _, n := range dead {
			kill(n)
		}
	})
}

// failing is a log whose snapshots fail at first.
type failing struct {
	journal.Log
	mu    sync.Mutex
	times int
}

func (f *failing) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	f.mu.Lock()
	f.times++
	fails := f.times <= 2
	f.mu.Unlock()
	if fails {
		return errors.New("disk full")
	}
	return f.Log.Save(ctx, p, m, chunks)
}

func TestASnapshotThatFailedIsMadeAgainWithAllThatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		right := c.log
		f := &failing{Log: right}
		c.log = f
		n := c.openOn(new(link), runtime.Config{SnapshotRecords: 10}, hosting(counter()))
		for i := range 30 {
			c.call(n, fmt.Sprint(i), "inc", "")
			time.Sleep(time.Second)
		}
		if err := n.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.times < 3 {
			t.Errorf("tried %d times", f.times)
		}
		n = c.open(hosting(counter()))
		for i := range 30 {
			if v := c.call(n, fmt.Sprint(i), "get", ""); v != "1" {
				t.Errorf("%d counted %s", i, v)
			}
		}
	})
}

// uncut is a log that is not truncated.
type uncut struct {
	journal.Log
	saves int
}

func (u *uncut) Save(ctx context.Context, p journal.Partition, m journal.Manifest, chunks map[journal.Chunk][]byte) error {
	u.saves++
	return u.Log.Save(ctx, p, m, chunks)
}

func (u *uncut) Truncate(context.Context, journal.Partition, int64) error {
	return errors.New("not allowed")
}

func TestASnapshotIsSavedEvenIfTheLogIsNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		log := &uncut{Log: c.log}
		c.log = log
		n := c.openWith(runtime.Config{SnapshotRecords: 10}, hosting(counter()))
		for i := 0; log.saves == 0; i++ {
			c.call(n, fmt.Sprint(i), "inc", "")
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		c.call(n, "0", "inc", "")
		synctest.Wait()
		if log.saves != 1 {
			t.Errorf("it was saved %d times", log.saves)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		kinds := make(map[runtime.EventKind]int)
		for _, e := range c.heard {
			kinds[e.Kind]++
		}
		if kinds[runtime.SnapshotSaved] != 1 || kinds[runtime.SnapshotFailed] != 1 {
			t.Errorf("heard %v", kinds)
		}
	})
}

// Acceptance case A82.
func TestA82_ASharedReadIsNeverOlderThanWhatWasAnsweredBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		typ := func() runtime.Type {
			t := hosting(counter())
			delete(t.Methods, "get")
			t.Methods["peek"] = runtime.Method{Read: func(ctx context.Context, v *runtime.Reading) record.Result {
				b, _, _ := v.Cell(ctx, "n")
				return record.Result{Value: b}
			}}
			t.Methods["slow"] = runtime.Method{Run: func(ctx context.Context, a *runtime.Attempt) runtime.End {
				set(a, "n", -1)
				<-ctx.Done()
				return value("")
			}}
			return t
		}
		client := c.open()
		peek := func() int {
			v, err := result(client.Read(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "peek"}))
			if err != nil {
				t.Error(err)
			}
			n, _ := strconv.Atoi(v)
			return n
		}
		var dead []*runtime.Node
		for round := range 4 {
			l := new(link)
			dead = append(dead, c.openOn(l, runtime.Config{}, typ()))
			for range 5 {
				v, _ := strconv.Atoi(c.call(client, "a", "inc", ""))
				if got := peek(); got < v {
					t.Errorf("read %d after %d was answered", got, v)
				}
			}
			if round < 3 {
				l.mu.Lock()
				l.blind = round%2 == 0 // a zombie
				l.mu.Unlock()
				l.evict()
			}
		}
		c.tell(client, "a", "slow", "")
		if start := time.Now(); peek() != 20 || time.Since(start) > time.Second {
			t.Error("a read waited for a method, or saw what it had in its hands")
		}
		for _, n := range dead {
			kill(n)
		}
	})
}

func TestAMethodMayCallASharedMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		typ := hosting(map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				set(a, "n", 7)
				v, err := nested(ctx, a, a.Request().Target, "peek", "")
				return value(fmt.Sprint(v, err))
			},
		})
		typ.Methods["peek"] = runtime.Method{Read: func(ctx context.Context, v *runtime.Reading) record.Result {
			b, _, _ := v.Cell(ctx, "n")
			return record.Result{Value: b}
		}}
		n := c.open(typ)
		if v := c.call(n, "a", "main", ""); v != "7<nil>" {
			t.Errorf("got %q", v)
		}
		if _, err := result(n.Read(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "main"})); code(err) != runtime.CodeNoMethod {
			t.Errorf("a read of an ordinary method: %v", err)
		}
	})
}
