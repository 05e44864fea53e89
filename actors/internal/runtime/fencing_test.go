package runtime_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/memory"
)

// Acceptance case A47, A48.
func TestA47_AnOwnerThatWasReplacedChangesNothingAndItsContextsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var mu sync.Mutex
		var epochs []uint64
		var cause error
		go1 := make(chan struct{})
		l := new(link)
		host := func(first bool) runtime.Type {
			return hosting(map[string]run{
				"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
					mu.Lock()
					epochs = append(epochs, a.Epoch())
					mu.Unlock()
					set(a, "n", count(ctx, a, "n")+1)
					if first {
						<-go1
					}
					return value(strconv.Itoa(count(ctx, a, "n")))
				},
				"hang": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
					if first {
						<-ctx.Done()
						mu.Lock()
						cause = context.Cause(ctx)
						mu.Unlock()
					}
					return value("")
				},
			})
		}
		client := c.open()
		zombie := c.openOn(l, runtime.Config{Name: "zombie"}, host(true))
		synctest.Wait()
		var all sync.WaitGroup
		all.Go(func() {
			if v := c.call(client, "a", "inc", ""); v != "1" {
				t.Errorf("answered %s", v)
			}
		})
		all.Go(func() { c.call(client, "b", "hang", "") })
		synctest.Wait()
		l.mu.Lock()
		l.blind = true
		l.mu.Unlock()
		l.evict()
		c.open(host(false))
		all.Wait()
		close(go1) // the zombie ends its step, which lands
		time.Sleep(time.Second)
		l.see()
		synctest.Wait()
		if v := c.call(client, "a", "inc", ""); v != "2" {
			t.Errorf("counted %s", v)
		}
		mu.Lock()
		if len(epochs) != 3 || epochs[1] <= epochs[0] {
			t.Errorf("fencing tokens %v", epochs)
		}
		if !errors.Is(cause, runtime.ErrLost) {
			t.Errorf("the context ended with %v", cause)
		}
		mu.Unlock()
		kill(zombie)
	})
}

// Acceptance case A49.
func TestA49_OfTwoThatClaimAtOnceOneWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		client := c.open()
		var links [3]link
		var nodes []*runtime.Node
		for i := range links {
			l := &links[i]
			l.blind = true // all read to the end before any claims
			nodes = append(nodes, c.openOn(l, runtime.Config{Name: strconv.Itoa(i)}, hosting(counter())))
			synctest.Wait()
			l.evict() // the next is assigned it too; this one does not learn that
		}
		for i := range links {
			links[i].see()
		}
		for i := range 10 {
			if v := c.call(client, "a", "inc", ""); v != strconv.Itoa(i+1) {
				t.Fatalf("counted %s of %d", v, i+1)
			}
		}
		for _, n := range nodes {
			kill(n)
		}
	})
}

// Acceptance case A50.
func TestA50_AStallWithoutEvictionCausesNoTakeoverAndNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		l := new(link)
		n := c.openOn(l, runtime.Config{}, hosting(counter()))
		c.nodes = append(c.nodes, n)
		c.call(n, "a", "inc", "")
		l.mu.Lock()
		l.blind = true
		l.mu.Unlock()
		var all sync.WaitGroup
		all.Go(func() { c.call(n, "a", "inc", "") })
		time.Sleep(20 * time.Second)
		l.see()
		all.Wait()
		if e := n.Inspect(t.Context()).Partitions[0].Epoch; e != 1 {
			t.Errorf("epoch %d", e)
		}
	})
}

// Acceptance case A51.
func TestA51_StateThatWasCachedBeforeALossIsNotServedAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		made := 0
		typ := hosting(map[string]run{"inc": func(ctx context.Context, a *runtime.Attempt) runtime.End {
			cached, _ := a.Instance().(*int)
			*cached++
			set(a, "n", *cached)
			return value(strconv.Itoa(*cached))
		}})
		typ.Activate = func(ctx context.Context, a *runtime.Attempt) (any, *runtime.End) {
			made++
			n := count(ctx, a, "n")
			return &n, nil
		}
		l := new(link)
		first := c.openOn(l, runtime.Config{}, typ)
		c.nodes = append(c.nodes, first)
		c.call(first, "a", "inc", "")
		l.evict() // it does not learn that, and claims again what it loses
		other := c.openOn(new(link), runtime.Config{ClaimBackoff: time.Hour}, typ)
		synctest.Wait()
		for range 3 {
			c.call(first, "a", "inc", "")
		}
		kill(other)
		if v := c.call(first, "a", "inc", ""); v != "5" || made < 2 {
			t.Errorf("counted %s, activated %d times", v, made)
		}
	})
}

// An append that nobody hears of again makes its owner give up, and claim
// again: what lands late is void.
func TestAnAppendOfUnknownOutcomeEndsTheIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var once sync.Once
		l := &link{before: func(_ int, _ partition, r record.Record) (drop bool) {
			if r.Kind() == record.KindStep {
				once.Do(func() { drop = true })
			}
			return drop
		}}
		n := c.openOn(l, runtime.Config{Patience: 10 * time.Second}, hosting(counter()))
		c.nodes = append(c.nodes, n)
		start := time.Now()
		if v := c.call(n, "a", "inc", ""); v != "1" {
			t.Errorf("got %s", v)
		}
		if d := time.Since(start); d < 10*time.Second || d > 12*time.Second {
			t.Errorf("after %v", d)
		}
		if e := n.Inspect(t.Context()).Partitions[0].Epoch; e != 2 {
			t.Errorf("epoch %d", e)
		}
	})
}

// Without append times acknowledgements do not stand for reading; everything
// works by the reader alone (R20).
func TestALogWithoutAppendTimesInItsAcknowledgementsWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		c.log = timeless{c.log}
		n := c.open(hosting(callbacks()))
		if v := c.call(n, "a", "main", ""); v != "111" {
			t.Errorf("got %q", v)
		}
	})
}

// Acceptance case A44.
func TestA44_StopLetsRunningChainsEndAndHandsOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 8)
		defer c.stop()
		var mu sync.Mutex
		runs := 0
		methods := map[string]run{
			"main": func(ctx context.Context, a *runtime.Attempt) runtime.End {
				mu.Lock()
				runs++
				mu.Unlock()
				time.Sleep(5 * time.Second)
				v, err := nested(ctx, a, actor("t", "b"), "inner", "")
				if err != nil {
					return again(err.Error())
				}
				return value(v)
			},
			"inner": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(5 * time.Second); return value("ok") },
			"quick": func(context.Context, *runtime.Attempt) runtime.End { return value("quick") },
		}
		client := c.open()
		leaving := c.openOn(new(link), runtime.Config{}, hosting(methods))
		synctest.Wait()
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			if v := c.call(client, "a", "main", ""); v != "ok" {
				t.Errorf("got %q", v)
			}
		})
		time.Sleep(time.Second)
		c.open(hosting(methods))
		all.Go(func() {
			if err := leaving.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		asked := time.Now()
		for i := range 20 {
			c.call(client, strconv.Itoa(i), "quick", "")
		}
		t.Logf("20 others took %v", time.Since(asked))
		all.Wait()
		if mu.Lock(); runs > 2 || time.Since(start) > 20*time.Second {
			t.Errorf("ran %d times in %v", runs, time.Since(start))
		}
		mu.Unlock()
	})
}

// What a method returns because its node is stopped is not its result.
func TestAMethodThatIsCutOffByAStopRunsAgainElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		client := c.open()
		cut := true
		typ := hosting(map[string]run{"work": func(ctx context.Context, _ *runtime.Attempt) runtime.End {
			if cut {
				<-ctx.Done()
				cut = false
				return failed("cancelled")
			}
			return value("ok")
		}})
		first := c.openOn(new(link), runtime.Config{}, typ)
		done := make(chan string)
		go func() { done <- c.call(client, "a", "work", "") }()
		synctest.Wait()
		kill(first)
		c.open(typ)
		if v := <-done; v != "ok" {
			t.Errorf("got %q", v)
		}
	})
}

func TestStopNamesMethodsThatIgnoreTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		release := make(chan struct{})
		n := c.openOn(new(link), runtime.Config{}, hosting(map[string]run{
			"obeys":   func(ctx context.Context, _ *runtime.Attempt) runtime.End { <-ctx.Done(); return value("") },
			"ignores": func(context.Context, *runtime.Attempt) runtime.End { <-release; return value("") },
		}))
		c.tell(n, "a", "obeys", "")
		c.tell(n, "b", "ignores", "")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		err := n.Stop(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "t/b.ignores") || strings.Contains(err.Error(), "obeys") {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d > 5200*time.Millisecond {
			t.Errorf("took %v", d)
		}
		if _, err := call(t.Context(), n, "a", "obeys", ""); !errors.Is(err, runtime.ErrStopped) {
			t.Errorf("a call afterwards: %v", err)
		}
		close(release)
	})
}

// Acceptance case A59.
func TestA59_AnUndecodableRecordIsADeadLetterAndThePartitionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		p := partition{Type: "t"}
		c.log.Append(p, []byte{record.Version, byte(record.KindStep), 1, 0xff}, nothing)
		n := c.open(hosting(counter()))
		c.call(n, "a", "inc", "")
		c.log.Append(p, []byte{record.Version}, nothing)
		if v := c.call(n, "a", "inc", ""); v != "2" {
			t.Errorf("counted %s", v)
		}
		if l := c.log.(*memory.Log).Messages("dead"); len(l) != 2 || headerOf(l[0], runtime.HeaderOffset) != "0" {
			t.Errorf("dead letters %+v", l)
		}
	})
}

func TestARecordOfANewerProgramIsNotSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		c.log.Append(partition{Type: "t"}, []byte{record.Version + 1, 1, 0}, nothing)
		n := c.open(hosting(counter()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := call(ctx, n, "a", "inc", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		h := n.Health()
		if h.Ready || len(h.Problems) != 1 || !errors.Is(h.Problems[0].Err, record.ErrUnknown) || n.Inspect(t.Context()).Partitions[0].Phase != runtime.PhaseRefused {
			t.Errorf("health %+v", h)
		}
	})
}

func TestAnotherNumberOfPartitionsOrWindowRefusesToOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		first := c.openOn(new(link), runtime.Config{}, hosting(counter()))
		synctest.Wait()
		if err := first.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		other := c.openOn(new(link), runtime.Config{Window: time.Minute}, hosting(counter()))
		more := c.log.(*memory.Log)
		synctest.Wait()
		if h := other.Health(); h.Ready || len(h.Problems) != 2 || !strings.Contains(h.Problems[0].Err.Error(), "window of 5m0s") {
			t.Errorf("window: health %+v", h)
		}
		kill(other)
		c.log = grown{more}
		other = c.open(hosting(counter()))
		synctest.Wait()
		if h := other.Health(); h.Ready || len(h.Problems) != 2 || !strings.Contains(h.Problems[0].Err.Error(), "made with 2 partitions and has 4") {
			t.Errorf("partitions: health %+v", h)
		}
	})
}

// grown is a log to which somebody has added partitions.
type grown struct{ *memory.Log }

func (grown) Count(context.Context, string) (uint32, error) { return 4, nil }
