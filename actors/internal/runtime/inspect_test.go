package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

func TestInspectTellsTheOldestOfManyMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		n := c.open(hosting(map[string]run{"sleep": func(context.Context, *runtime.Attempt) runtime.End { time.Sleep(2 * time.Minute); return value("") }}))
		c.tell(n, "first", "sleep", "")
		time.Sleep(time.Minute)
		for i := range 2 * inspect.MaxRunning {
			c.tell(n, fmt.Sprint(i), "sleep", "")
		}
		time.Sleep(time.Second)
		p := n.Inspect(t.Context()).Partitions[0]
		if p.Methods != 2*inspect.MaxRunning+1 || len(p.Running) != inspect.MaxRunning || p.Running[0].ID != "first" || p.Requests != p.Methods || p.Actors != p.Methods {
			t.Errorf("%d methods, %d shown, the first %+v; %d requests of %d actors", p.Methods, len(p.Running), p.Running[0], p.Requests, p.Actors)
		}
		d := n.Depths(t.Context())
		if len(d) != 1 || d[0] != (inspect.Depth{Type: "t", Requests: p.Requests, Oldest: 61 * time.Second}) {
			t.Errorf("depths: %+v", d)
		}
		time.Sleep(5 * time.Minute) // all of them have ended
	})
}

// A loop that is held up, here by an observer, is told of as far as that goes
// without it.
func TestWhoDoesNotAnswerIsToldOfAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		defer c.stop()
		n := c.openWith(runtime.Config{Observe: func(e runtime.Event) {
			if e.Kind == runtime.MethodDone && e.Actor == "a" {
				time.Sleep(time.Minute)
			}
		}}, hosting(map[string]run{"quick": func(context.Context, *runtime.Attempt) runtime.End { return value("") }}))
		synctest.Wait()
		c.tell(n, "a", "quick", "")
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start, answered := time.Now(), 0
		for _, p := range n.Inspect(ctx).Partitions {
			if p.Phase != inspect.Owning {
				t.Errorf("%+v", p)
			}
			if p.Epoch == 1 {
				answered++
			}
		}
		if took := time.Since(start); answered != 1 || took != time.Second {
			t.Errorf("%d of two have answered within %v", answered, took)
		}
		if d := n.Depths(ctx); len(d) > 1 {
			t.Errorf("depths: %+v", d)
		}
		time.Sleep(2 * time.Minute)
		if d := n.Depths(t.Context()); len(d) != 2 {
			t.Errorf("later: %+v", d)
		}
	})
}

// The race detector is the judge: what Activate has made is told while its
// method runs.
func TestInspectLooksAtWhatMethodsActivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		activating, over := make(chan struct{}), make(chan struct{})
		typ := hosting(map[string]run{"hold": func(context.Context, *runtime.Attempt) runtime.End { <-over; return value("") }})
		typ.Activate = func(context.Context, *runtime.Attempt) (any, *runtime.End) {
			close(activating)
			return new(int), nil
		}
		n := c.open(typ)
		c.tell(n, "a", "hold", "")
		<-activating
		n.Inspect(t.Context())
		synctest.Wait()
		if p := n.Inspect(t.Context()).Partitions[0]; p.Instances != 1 {
			t.Errorf("%d instances", p.Instances)
		}
		close(over)
	})
}
