package policyfile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestAFileThatIsBadToBeginWithIsAnError(t *testing.T) {
	path := t.TempDir() + "/policies.yaml"
	if _, err := policyfile.Watch(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("targets: 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := policyfile.Watch(t.Context(), path); !errors.Is(err, policyfile.ErrInvalid) {
		t.Errorf("of a file with faults: %v", err)
	}
}

func TestAFileThatGoesAndComesBackIsFollowedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "targets: {pay: {deadline: {total: 3s}}}"
		f := follow(t, text)
		os.Remove(f.path)
		f.pass()
		f.pass()
		if got, want := f.told(), "policies refused file"; got != want {
			t.Errorf("told %q, want %q, once", got, want)
		}
		if err := f.live.Err(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Err is %v", err)
		}
		if f.total("pay") != 3*time.Second {
			t.Error("the last good version is not in force")
		}
		f.change(text)
		if err := f.live.Err(); err != nil {
			t.Errorf("it came back, but Err is %v", err)
		}
	})
}

func TestTargetsThatComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		calls := 0
		current, cancel := f.live.Subscribe("stock", func(middleware.Target) { calls++ })
		if current.Validate() == nil {
			t.Error("an unknown target can be built")
		}
		f.change("targets: {stock: on, pay: on}")
		if calls != 1 {
			t.Errorf("stock came: %d calls", calls)
		}
		f.change("targets: {pay: on}")
		f.change("targets: {pay: on, stock: {extends: standard}}")
		if calls != 1 {
			t.Errorf("stock went, and came back as it was: %d calls", calls)
		}
		cancel()
		f.change("targets: {pay: on, stock: {hedge: on}}")
		if calls != 1 {
			t.Errorf("the subscription was cancelled: %d calls", calls)
		}
		want := "policies loaded file; policy added stock; " +
			"policies loaded file; policy removed stock; " +
			"policies loaded file; policy added stock; " +
			"policies loaded file; policy changed stock"
		if got := f.told(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
	})
}

func TestSubscribersMayPanicAndExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		f.live.Subscribe("pay", func(middleware.Target) { panic("no") })
		f.live.Subscribe("pay", func(middleware.Target) { runtime.Goexit() })
		reached := 0
		var cancel func()
		_, cancel = f.live.Subscribe("pay", func(middleware.Target) { reached++; cancel() })
		f.change("targets: {pay: {hedge: on}}")
		f.change("targets: {pay: {hedge: off}}")
		if reached != 1 {
			t.Errorf("the last subscriber, who cancels itself, was called %d times", reached)
		}
		if f.live.Policies().Target("pay").Hedge != nil {
			t.Error("the file is not followed any longer")
		}
	})
}

func TestNobodyIsCalledAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		var cancel func()
		f.live.Subscribe("pay", func(middleware.Target) { cancel() })
		_, cancel = f.live.Subscribe("pay", func(middleware.Target) { t.Error("it was cancelled by the one before") })
		f.change("targets: {pay: {hedge: on}}")
	})
}

func TestWhatASubscriberGetsIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: {propagate: {hosts: [a]}}}")
		f.live.Subscribe("pay", func(t middleware.Target) { t.Propagate.Hosts[0], t.Retry.MaxAttempts = "spoiled", 99 })
		f.change("targets: {pay: {propagate: {hosts: [b]}}}")
		current := f.live.Target("pay")
		if current.Propagate.Hosts[0] != "b" || current.Retry.MaxAttempts != 0 {
			t.Errorf("a subscriber changed the policies: %+v", current)
		}
	})
}

func TestReloadLooksNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		f.write("targets: {pay: {hedge: on}}")
		if err := f.live.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.live.Target("pay").Hedge == nil {
			t.Error("it was not reloaded")
		}
		f.write("targets: {pay: {hdge: on}}")
		if err := f.live.Reload(t.Context()); !errors.Is(err, policyfile.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		f.live.Close()
		if err := f.live.Reload(t.Context()); err == nil {
			t.Error("a closed Live reloads")
		}
		f.live.Close() // twice is fine
	})
}

func TestTheFollowingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/policies.yaml"
		if err := os.WriteFile(path, []byte("targets: {pay: on}"), 0o644); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := policyfile.Watch(ctx, path, policyfile.WithSignals()); err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait() // the bubble would not end with a goroutine left
	})
}

// An observer that ends its goroutine, as t.Fatal does, must not end that of
// the Live: whoever waits in Reload would wait for ever, and a SIGHUP would
// end the process.
func TestAnObserverThatExitsDoesNotEndTheFollowing(t *testing.T) {
	path := t.TempDir() + "/policies.yaml"
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("targets: {pay: on}")
	l, err := policyfile.Watch(t.Context(), path, policyfile.WithEvery(0), policyfile.WithObserver(exiting{}))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	told := false
	l.Subscribe("pay", func(middleware.Target) { told = true })
	write("targets: {pay: {deadline: {total: 3s}}}")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for range 2 {
		if err := l.Reload(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if !told {
		t.Error("the subscriber was not told")
	}
}

// exiting is an observer that ends the goroutine it is told on.
type exiting struct{}

func (exiting) Observe(context.Context, backstay.Event) { runtime.Goexit() }
