package breaker

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
)

func TestJudge(t *testing.T) {
	const ms = time.Millisecond
	alive := t.Context()
	cancelled, cancel := context.WithCancel(alive)
	cancel()
	expired, cancel := context.WithDeadline(alive, time.Time{})
	defer cancel()

	off, cuts := newSettings(Config{}), newSettings(Config{SlowAfter: 100 * ms})
	slow := newSettings(Config{SlowAfter: 100 * ms, SlowRatio: 0.5})
	for _, c := range []struct {
		name    string
		s       *settings
		ctx     context.Context //nolint:containedctx // one row's
		class   backstay.Class
		elapsed time.Duration
		want    verdict
	}{
		{"a success", off, alive, backstay.Success, time.Hour, verdict{}},
		{"a permanent failure is the caller's", off, alive, backstay.Permanent, 0, verdict{}},
		{"a transient failure", off, alive, backstay.Transient, 0, verdict{failed: true}},
		{"an overload", off, alive, backstay.Overload, 0, verdict{failed: true}},
		{"a fault", off, alive, backstay.Fault, 0, verdict{failed: true}},
		{"a refusal of ours", slow, expired, backstay.Rejected, time.Hour, verdict{neutral: true}},
		{"a class of another time", off, alive, 99, 0, verdict{neutral: true}},
		{"a cancelled call, however long", slow, cancelled, backstay.Canceled, time.Hour, verdict{neutral: true}},
		{"a cancelled call whose context lives", slow, alive, backstay.Canceled, time.Hour, verdict{neutral: true}},
		{"a deadline's cut without SlowAfter", off, expired, backstay.Canceled, time.Hour, verdict{neutral: true}},
		{"a deadline's cut before SlowAfter", cuts, expired, backstay.Canceled, 99 * ms, verdict{neutral: true}},
		{"a deadline's cut at SlowAfter", cuts, expired, backstay.Canceled, 100 * ms, verdict{failed: true}},
		{"a deadline's cut under the slow rule", slow, expired, backstay.Canceled, 100 * ms, verdict{failed: true, slow: true}},
		{"a slow success without the slow rule", cuts, alive, backstay.Success, time.Hour, verdict{}},
		{"a slow success", slow, alive, backstay.Success, 100 * ms, verdict{slow: true}},
		{"a success in time", slow, alive, backstay.Success, 99 * ms, verdict{}},
		{"a slow permanent failure", slow, alive, backstay.Permanent, 100 * ms, verdict{slow: true}},
		{"a slow failure", slow, alive, backstay.Transient, 100 * ms, verdict{failed: true, slow: true}},
		{"an answer in time after the deadline", slow, expired, backstay.Success, 99 * ms, verdict{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.s.judge(c.ctx, c.class, c.elapsed); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestOpeningsDoubleUpToTheBound(t *testing.T) {
	for _, c := range []struct {
		name      string
		open, max time.Duration
		n         int
		want      time.Duration
	}{
		{"the first", 0, 0, 1, 5 * time.Second},
		{"the second", 0, 0, 2, 10 * time.Second},
		{"the fourth", 0, 0, 4, 40 * time.Second},
		{"the fifth meets the bound", 0, 0, 5, time.Minute},
		{"the last there can be", 0, 0, math.MaxInt, time.Minute},
		{"a bound that is no multiple", time.Second, 3 * time.Second, 3, 3 * time.Second},
		{"the longest", maxWait, maxWait, math.MaxInt, maxWait},
		{"the shortest up to the longest", minWait, maxWait, math.MaxInt, maxWait},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSettings(Config{OpenFor: c.open, MaxOpenFor: c.max})
			if got := s.openFor(c.n); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
