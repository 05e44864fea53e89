package middleware_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
)

func entrance(t *testing.T, s middleware.Server, o backstay.Observer) *middleware.Entrance {
	t.Helper()
	e, err := middleware.NewEntrance(s, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAServerThatIsAppliedKeepsTheStateOfWhatDidNotChange(t *testing.T) {
	with := func(limit int64, timeout time.Duration) middleware.Server {
		return middleware.Server{Name: "stock", Timeout: timeout, Bulkhead: &bulkhead.Config{Limit: limit}}
	}
	e := entrance(t, with(2, time.Second), nil)
	first := e.Now()
	if _, err := first.Bulkhead().Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		server         middleware.Server
		same           bool // the Admission is
		limit, running int64
	}{
		{"the same again", with(2, time.Second), true, 2, 1},
		{"another timeout", with(2, time.Minute), false, 2, 1},
		{"another bulkhead", with(7, time.Minute), false, 7, 0},
	} {
		if err := e.Apply(c.server); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		now := e.Now()
		if b := now.Bulkhead(); (now == first) != c.same || b.Limit() != c.limit || b.InFlight() != c.running {
			t.Errorf("%s: limit %d, %d in flight", c.name, b.Limit(), b.InFlight())
		}
	}
	if err := e.Apply(middleware.Server{Name: "stock"}); err != nil || e.Now().Bulkhead() != nil || e.Now().LeavesHandlers() {
		t.Errorf("what is gone is in force: %v", err)
	}
}

func TestAServerThatCannotBeAppliedChangesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		server middleware.Server
		path   string
	}{
		{"faults", middleware.Server{Name: "stock", Timeout: -1}, "middleware.stock.timeout"},
		{"another name", middleware.Server{Name: "orders"}, "middleware.name"},
		{"keys without a store", middleware.Server{Name: "stock", Idempotency: &idempotency.GuardConfig{}}, "middleware.stock.idempotency.store"},
	} {
		e := entrance(t, middleware.StandardServer("stock"), nil)
		was := e.Now()
		err := e.Apply(c.server)
		if f, ok := errors.AsType[*backstay.FieldError](err); !ok || f.Path != c.path {
			t.Errorf("%s: %v", c.name, err)
		}
		if e.Now() != was {
			t.Errorf("%s: something has changed", c.name)
		}
	}
}

func TestARequestGoesByTheServerThatItBeganWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen testkit.Recorder
		e := entrance(t, middleware.Server{Name: "stock", Timeout: time.Second, Bulkhead: &bulkhead.Config{Limit: 1}}, &seen)
		old := e.Now()
		began := time.Now()
		err := admit(t.Context(), old, middleware.Arrival{}, func(context.Context) error {
			if err := e.Apply(middleware.Server{Name: "stock", Timeout: time.Hour}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute) // whatever its context says
			return nil
		})
		if took := time.Since(began); err == nil || took != time.Second {
			t.Errorf("it ends after %v: %v", took, err)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.Close(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed while the handler runs: %v", err)
		}
		if err := e.Close(t.Context()); err != nil || time.Since(began) != time.Minute || old.Bulkhead().InFlight() != 0 {
			t.Errorf("closed after %v, %d in flight: %v", time.Since(began), old.Bulkhead().InFlight(), err)
		}
		if e.Apply(middleware.Server{Name: "stock"}) == nil {
			t.Error("it is closed, and takes another server")
		}
	})
}
