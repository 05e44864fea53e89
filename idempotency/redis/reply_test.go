package redis

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

func TestWhatAReplyMeans(t *testing.T) {
	for name, c := range map[string]struct {
		reply any
		want  idempotency.Result
	}{
		"started":                     {int64(1), idempotency.Result{State: idempotency.Started}},
		"in flight":                   {[]any{int64(2), int64(1500)}, idempotency.Result{State: idempotency.InFlight, Remaining: 1500 * time.Millisecond}},
		"in flight, about to expire":  {[]any{int64(2), int64(0)}, idempotency.Result{State: idempotency.InFlight, Remaining: time.Millisecond}},
		"completed":                   {[]any{int64(3), "answer"}, idempotency.Result{State: idempotency.Completed, Record: idempotency.Record{Answer: []byte("answer")}}},
		"completed, an empty answer":  {[]any{int64(3), ""}, idempotency.Result{State: idempotency.Completed}},
		"completed, without answer":   {[]any{int64(3), nil}, idempotency.Result{State: idempotency.Completed, Record: idempotency.Record{Omitted: true}}},
		"used for another request":    {int64(4), idempotency.Result{State: idempotency.Mismatched}},
		"the detail of a plain state": {[]any{int64(1), "ignored"}, idempotency.Result{State: idempotency.Started}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(c.reply)
			if err != nil || got.State != c.want.State || got.Remaining != c.want.Remaining ||
				got.Record.Omitted != c.want.Record.Omitted || !bytes.Equal(got.Record.Answer, c.want.Record.Answer) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestAReplyThatMakesNoSenseIsAnError(t *testing.T) {
	for name, reply := range map[string]any{
		"nothing":                nil,
		"a text":                 "1",
		"a number with a point":  1.0,
		"a bool":                 true,
		"no state":               int64(5),
		"a negative state":       int64(-1),
		"an empty list":          []any{},
		"a list of one":          []any{int64(1)},
		"a list of three":        []any{int64(2), int64(1), int64(1)},
		"a text for a state":     []any{"2", int64(1)},
		"in flight, no time":     int64(2),
		"in flight, a text":      []any{int64(2), "1"},
		"in flight for ages":     []any{int64(2), int64(math.MaxInt64)},
		"completed, a number":    []any{int64(3), int64(1)},
		"completed, an error":    []any{int64(3), errors.New("x")},
		"a list in a list":       []any{[]any{int64(1)}, nil},
		"a map":                  map[any]any{"a": int64(1)},
		"a text that is endless": strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(reply)
			if err == nil || got.State != 0 || len(err.Error()) > 200 {
				t.Errorf("parse: %+v, %.300v", got, err)
			}
			if err := parseOwner(reply); err == nil || errors.Is(err, idempotency.ErrLeaseLost) {
				t.Errorf("parseOwner: %.300v", err)
			}
		})
	}
}

func TestWhatNoStoreWroteIsCorrupt(t *testing.T) {
	for name, reply := range map[string]any{"something else": int64(0), "a lease without an end": []any{int64(2), int64(-1)}} {
		if got, err := parse(reply); !errors.Is(err, ErrCorrupt) || got.State != 0 {
			t.Errorf("%s: %+v, %v, want ErrCorrupt", name, got, err)
		}
	}
}

func TestWhatAnOwnerIsTold(t *testing.T) {
	if err := parseOwner(int64(1)); err != nil {
		t.Error(err)
	}
	if err := parseOwner(int64(0)); !errors.Is(err, idempotency.ErrLeaseLost) {
		t.Errorf("got %v, want ErrLeaseLost", err)
	}
}
