package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// clocked records when a method ran, in seconds since start.
type clocked struct {
	mu    sync.Mutex
	start time.Time
	ticks []string
}

func (k *clocked) ticked(a *runtime.Attempt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ticks = append(k.ticks, fmt.Sprintf("%v+%d", time.Since(k.start), a.Request().Missed))
}

func (k *clocked) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Sprint(k.ticks)
}

func reminding(k *clocked, period time.Duration) map[string]run {
	every := ""
	if period > 0 {
		every = period.String()
	}
	return map[string]run{
		"set": func(_ context.Context, a *runtime.Attempt) runtime.End {
			if err := a.Remind(record.Reminder{Name: "r", Next: a.Now() + 10_000, Period: every, Method: "tick", Args: []byte("x")}); err != nil {
				return value(err.Error())
			}
			return value("")
		},
		"cancel": func(_ context.Context, a *runtime.Attempt) runtime.End {
			_ = a.Remind(record.Reminder{Name: "r"})
			return value("")
		},
		"tick": func(_ context.Context, a *runtime.Attempt) runtime.End { k.ticked(a); return value("") },
		"slow": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(35 * time.Second); return value("") },
	}
}

// Acceptance case A71, A73.
func TestA71_AOneShotReminderFiresOnceAndNeverEarlyAlsoAfterItsHostDied(t *testing.T) {
	for _, dies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1)
			defer c.stop()
			k := &clocked{start: time.Now()}
			client := c.open()
			l := new(link)
			first := c.openOn(l, runtime.Config{}, hosting(reminding(k, 0)))
			c.call(client, "a", "set", "")
			want := "[10s+0]"
			if dies {
				l.crash()
				time.Sleep(15 * time.Second)
				c.open(hosting(reminding(k, 0)))
				want = "[15s+0]"
			}
			time.Sleep(time.Minute)
			if k.String() != want {
				t.Errorf("ticked at %v, want %s", k, want)
			}
			kill(first)
		})
	}
}

// Acceptance case A72.
func TestA72_APeriodicReminderGoesOnCoalescesWhatItMissedAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		k := &clocked{start: time.Now()}
		client := c.open()
		l := new(link)
		first := c.openOn(l, runtime.Config{}, hosting(reminding(k, 10*time.Second)))
		c.call(client, "a", "set", "")
		time.Sleep(25 * time.Second)
		l.crash()
		time.Sleep(30 * time.Second) // misses 30, 40, 50
		c.open(hosting(reminding(k, 10*time.Second)))
		time.Sleep(7 * time.Second)
		if s := "[10s+0 20s+0 55s+2 1m0s+0]"; k.String() != s {
			t.Errorf("ticked at %v, want %s", k, s)
		}
		c.call(client, "a", "cancel", "")
		time.Sleep(time.Minute)
		if s := "[10s+0 20s+0 55s+2 1m0s+0]"; k.String() != s {
			t.Errorf("after the cancel: %v", k)
		}
		kill(first)
	})
}

// jumped is a log as seen by a process whose clock jumps.
type jumped struct {
	journal.Log
	by atomic.Int64
}

func (j *jumped) Skew() time.Duration { return time.Duration(j.by.Load()) }

// What is a tick that was missed, the log's clock says, not the owner's.
func TestAPeriodicReminderLeavesNoTickOutForAClockThatJumpsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		k := &clocked{start: time.Now()}
		log := &jumped{Log: c.log}
		c.log = log
		n := c.open(hosting(reminding(k, 10*time.Second)))
		c.call(n, "a", "set", "")
		time.Sleep(15 * time.Second)
		log.by.Store(int64(time.Hour))
		time.Sleep(40 * time.Second)
		if s := "[10s+0 20s+0 30s+0 40s+0 50s+0]"; k.String() != s {
			t.Errorf("ticked at %v, want %s", k, s)
		}
	})
}

// Acceptance case A72.
func TestA72_ACancelStopsAReminderThatIsDueAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		k := &clocked{start: time.Now()}
		l := new(link)
		client := c.open()
		first := c.openOn(l, runtime.Config{}, hosting(reminding(k, 0)))
		c.call(client, "a", "set", "")
		l.crash()
		time.Sleep(20 * time.Second)
		c.tell(client, "a", "cancel", "") // before the next owner, so it runs first
		c.open(hosting(reminding(k, 0)))
		time.Sleep(time.Minute)
		if s := k.String(); strings.Contains(s, " ") {
			t.Errorf("ticked at %v", k)
		}
		kill(first)
	})
}

// A method that is slower than its period is not buried in ticks.
func TestTicksOfASlowMethodCoalesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		k := &clocked{start: time.Now()}
		methods := reminding(k, 10*time.Second)
		tick := methods["tick"]
		methods["tick"] = func(ctx context.Context, a *runtime.Attempt) runtime.End {
			tick(ctx, a)
			time.Sleep(35 * time.Second)
			return value("")
		}
		n := c.open(hosting(methods))
		c.call(n, "a", "set", "")
		time.Sleep(100 * time.Second)
		if s := "[10s+0 45s+2 1m20s+3]"; k.String() != s {
			t.Errorf("ticked at %v, want %s", k, s)
		}
		c.call(n, "a", "cancel", "")
	})
}

func TestADelayedTellWaitsAtItsDestinationAlsoThroughACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 4)
		defer c.stop()
		k := &clocked{start: time.Now()}
		client := c.open()
		l := new(link)
		first := c.openOn(l, runtime.Config{}, hosting(reminding(k, 0)))
		err := client.Tell(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "tick", NotBefore: client.Now() + 10_000})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		l.crash()
		c.open(hosting(reminding(k, 0)))
		time.Sleep(time.Minute)
		if k.String() != "[10s+0]" {
			t.Errorf("ticked at %v", k)
		}
		kill(first)
	})
}

func TestAPeriodThatIsNoDurationIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		var errs []error
		n := c.open(hosting(map[string]run{"set": func(_ context.Context, a *runtime.Attempt) runtime.End {
			for _, p := range []string{"* * * * *", "-1s", "0s", "1us"} {
				errs = append(errs, a.Remind(record.Reminder{Name: "r", Next: 1, Period: p}))
			}
			return value("")
		}}))
		c.call(n, "a", "set", "")
		for _, err := range errs {
			if !errors.Is(err, runtime.ErrPeriod) {
				t.Errorf("got %v", err)
			}
		}
	})
}
