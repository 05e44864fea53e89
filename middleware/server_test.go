package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

func TestAServerIsCheckedAsAWhole(t *testing.T) {
	for _, c := range []struct {
		name   string
		server middleware.Server
		want   []string // paths of the faults
	}{
		{"the zero Server", middleware.Server{}, nil},
		{"the preset", middleware.StandardServer("stock"), nil},
		{"every section with its defaults", middleware.Server{
			Deadline: &deadline.IncomingConfig{}, Bulkhead: &bulkhead.Config{}, Idempotency: &idempotency.GuardConfig{},
		}, nil},
		{"faults of all sections at once", middleware.Server{
			Name: "stock", Timeout: -1, KeyHeader: "a b", PriorityHeader: "x-bin",
			Deadline:    &deadline.IncomingConfig{Minimum: -1},
			Bulkhead:    &bulkhead.Config{Limit: -5, Priorities: &bulkhead.PriorityConfig{}},
			Idempotency: &idempotency.GuardConfig{Lease: -1},
		}, []string{
			"stock.bulkhead.limit", "stock.deadline.minimum", "stock.idempotency.lease",
			"stock.key_header", "stock.priority_header", "stock.timeout",
		}},
		{"a handler that may outlast its request", middleware.Server{
			Timeout: time.Minute, Deadline: &deadline.IncomingConfig{Cap: time.Second},
		}, []string{"timeout"}},
		{"the same against the default", middleware.Server{
			Timeout: time.Hour, Deadline: &deadline.IncomingConfig{},
		}, []string{"timeout"}},
		{"no cap, any timeout", middleware.Server{
			Timeout: time.Hour, Deadline: &deadline.IncomingConfig{Cap: deadline.NoCap},
		}, nil},
		{"a minimum that no handler gets", middleware.Server{
			Timeout: time.Second, Deadline: &deadline.IncomingConfig{Minimum: 2 * time.Second},
		}, []string{"deadline.minimum"}},
		{"queues that outlast the request", middleware.Server{
			Deadline:    &deadline.IncomingConfig{Cap: time.Second},
			Bulkhead:    &bulkhead.Config{MaxQueue: 1, MaxWait: 2 * time.Second},
			Idempotency: &idempotency.GuardConfig{MaxWait: 2 * time.Second},
		}, []string{"bulkhead.max_wait", "idempotency.max_wait"}},
		{"permits that answers hold", middleware.Server{Bulkhead: &bulkhead.Config{HoldBody: true}}, []string{"bulkhead.hold_body"}},
		{"priorities that nobody asks for", middleware.Server{PriorityHeader: "x-priority", Bulkhead: &bulkhead.Config{}}, []string{"priority_header"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range unjoin(c.server.Validate()) {
				var f *backstay.FieldError
				if !errors.As(e, &f) {
					t.Fatalf("%v is no FieldError", e)
				}
				got = append(got, f.Path)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// unjoin takes joined errors apart.
func unjoin(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, unjoin(e)...)
	}
	return all
}

func TestAServerWithKeysNeedsAStore(t *testing.T) {
	_, err := middleware.NewAdmission(middleware.Server{Name: "stock", Idempotency: &idempotency.GuardConfig{}}, nil, nil)
	var f *backstay.FieldError
	if !errors.As(err, &f) || f.Path != "middleware.stock.idempotency.store" || !strings.Contains(err.Error(), "ServerStore") {
		t.Errorf("got %v", err)
	}
}

func TestAServerIsReadFromItsTags(t *testing.T) {
	const text = `{"name":"stock","deadline":{"minimum":5},"timeout":7,"bulkhead":{"limit":3,"priorities":{}},` +
		`"priority_header":"x-p","idempotency":{"required":true},"key_header":"x-k","retry_nested":true}`
	var s middleware.Server
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(s)
	if err != nil || string(back) != text {
		t.Errorf("came back as %s, %v", back, err)
	}
}

// admit makes a request at a server.
func admit(ctx context.Context, a *middleware.Admission, in middleware.Arrival, f func(context.Context) error) error {
	in.Header = deadline.Header(nil)
	_, err := middleware.Admit(ctx, a, in, backstay.Plain[int]{}, struct{}{}, func(ctx context.Context, _ struct{}) (int, error) {
		return 0, f(ctx)
	})
	return err
}

func TestStreamsHaveNoLimitsButTheirCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := middleware.NewAdmission(middleware.Server{Deadline: &deadline.IncomingConfig{}, Timeout: time.Second}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = admit(t.Context(), a, middleware.Arrival{Stream: true}, func(ctx context.Context) error {
			time.Sleep(time.Hour)
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestLimitsHoldUntilTheyAreLifted(t *testing.T) {
	for _, c := range []struct {
		name   string
		server middleware.Server
		lift   time.Duration
		late   bool
	}{
		{"the cap, lifted in time", middleware.Server{Deadline: &deadline.IncomingConfig{Cap: 2 * time.Second}}, time.Second, false},
		{"the cap, lifted too late", middleware.Server{Deadline: &deadline.IncomingConfig{Cap: 2 * time.Second}}, 3 * time.Second, true},
		{"cap and timeout, lifted in time", middleware.Server{Deadline: &deadline.IncomingConfig{Cap: 2 * time.Second}, Timeout: 2 * time.Second}, time.Second, false},
		{"the timeout, lifted too late", middleware.Server{Deadline: &deadline.IncomingConfig{Cap: time.Hour}, Timeout: 2 * time.Second}, 3 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen testkit.Recorder
				a, err := middleware.NewAdmission(c.server, nil, &seen)
				if err != nil {
					t.Fatal(err)
				}
				var limits middleware.Limits
				err = admit(t.Context(), a, middleware.Arrival{Limits: &limits}, func(ctx context.Context) error {
					time.Sleep(c.lift)
					if limits.Lift() == c.late {
						t.Errorf("lifting says %v", !c.late)
					}
					time.Sleep(time.Minute)
					return ctx.Err()
				})
				if (err != nil) != c.late {
					t.Errorf("the request ends in %v", err)
				}
				if err := a.Close(t.Context()); err != nil {
					t.Error(err)
				}
				told := seen.Events(middleware.HandlerTimedOut)
				if want := errors.Is(err, timeout.ErrTimeout); (len(told) == 1) != want {
					t.Errorf("told %v", told)
				}
			})
		})
	}
}

func TestARelayTellsOfTheLatestFailure(t *testing.T) {
	var r middleware.Relay
	ctx := r.Under(context.WithValue(t.Context(), relayed{}, 1))
	if middleware.RelayFrom(t.Context()) != nil || middleware.RelayFrom(retry.Suppress(ctx)) != &r || ctx.Value(relayed{}) != 1 {
		t.Error("the relay is not found where it is, or found where it is not")
	}
	for _, c := range []struct {
		o    backstay.Outcome
		want bool
	}{
		{backstay.Outcome{Class: backstay.Transient}, false},
		{backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}, true},
		{backstay.Outcome{Class: backstay.Permanent}, false},
		{backstay.Outcome{Class: backstay.Rejected}, true},
		{backstay.Outcome{Class: backstay.Rejected, RetryAfter: time.Second}, false},
	} {
		if r.Note(c.o); r.Final() != c.want {
			t.Errorf("after %v: %v", c.o, r.Final())
		}
	}
}

type relayed struct{}

func TestKeyedWorkOutlastsItsCallerByNoMoreThanTheServersLimits(t *testing.T) {
	keys := &idempotency.GuardConfig{}
	for name, c := range map[string]struct {
		server middleware.Server
		want   time.Duration
	}{
		"no keys":               {middleware.Server{Timeout: time.Second}, 0},
		"no limits":             {middleware.Server{Idempotency: keys}, 5 * time.Second},
		"the cap by default":    {middleware.Server{Idempotency: keys, Deadline: &deadline.IncomingConfig{}}, 5 * time.Second},
		"no cap":                {middleware.Server{Idempotency: keys, Deadline: &deadline.IncomingConfig{Cap: deadline.NoCap}}, 5 * time.Second},
		"a short cap":           {middleware.Server{Idempotency: keys, Deadline: &deadline.IncomingConfig{Cap: time.Second}}, time.Second},
		"a shorter timeout":     {middleware.Server{Idempotency: keys, Timeout: time.Second / 2, Deadline: &deadline.IncomingConfig{Cap: time.Second}}, time.Second / 2},
		"less than a guard has": {middleware.Server{Idempotency: keys, Timeout: time.Microsecond}, time.Millisecond},
		"what the section says": {middleware.Server{Idempotency: &idempotency.GuardConfig{Grace: time.Minute}, Timeout: time.Second}, time.Minute},
		"none":                  {middleware.Server{Idempotency: &idempotency.GuardConfig{Grace: idempotency.NoGrace}, Timeout: time.Second}, 0},
	} {
		if got := c.server.Grace(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
