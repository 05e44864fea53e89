package otelmw_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/otelmw"
)

func TestTheNamesOfKeysAndOperationsAreBoundedForEachPolicy(t *testing.T) {
	l := newLab(t, otelmw.WithMaxNames(2))
	for i := range 10 {
		for _, policy := range []string{"a", "b"} {
			l.Observe(t.Context(), backstay.Event{Kind: backstay.AttemptDone, Policy: policy, Key: fmt.Sprint("host", i)})
		}
		l.Observe(t.Context(), backstay.Event{Kind: backstay.AttemptDone, Policy: "c", Operation: fmt.Sprint("op", i)})
	}
	want := map[string]float64{
		"backstay.attempt.outcome=success,backstay.operation=op0,backstay.policy=c":   1,
		"backstay.attempt.outcome=success,backstay.operation=op1,backstay.policy=c":   1,
		"backstay.attempt.outcome=success,backstay.operation=other,backstay.policy=c": 8,
	}
	for _, policy := range []string{"a", "b"} {
		want["backstay.attempt.outcome=success,backstay.key=host0,backstay.policy="+policy] = 1
		want["backstay.attempt.outcome=success,backstay.key=host1,backstay.policy="+policy] = 1
		want["backstay.attempt.outcome=success,backstay.key=other,backstay.policy="+policy] = 8
	}
	l.want("backstay.attempts", want)
}

func TestSpansTellTheRealNames(t *testing.T) {
	l := newLab(t, otelmw.WithMaxNames(1))
	for _, key := range []string{"first", "second"} {
		e := backstay.Event{Kind: backstay.CallStarted, Policy: "p", Key: key, Operation: "op " + key}
		ctx, endCall := l.Start(t.Context(), e)
		e.Kind = backstay.AttemptStarted
		_, endAttempt := l.Start(ctx, e)
		endAttempt(e)
		endCall(e)
	}
	for i, want := range []string{"first", "second", "first", "second"} {
		if s := l.ended()[i]; attr(s, "backstay.key") != want || attr(s, "backstay.operation") != "op "+want {
			t.Errorf("%s: %v, want %s", s.Name(), s.Attributes(), want)
		}
	}
}

func TestTheLimitHoldsForAThousandAtOnce(t *testing.T) {
	l := newLab(t, otelmw.WithMaxNames(10))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 125 {
				l.Observe(t.Context(), backstay.Event{Kind: backstay.AttemptDone, Policy: "p", Key: fmt.Sprint(g, i)})
			}
		})
	}
	all.Wait()
	got := l.values("backstay.attempts")
	total := 0.0
	for _, n := range got {
		total += n
	}
	if len(got) != 11 || total != 1000 {
		t.Errorf("%d series, %v in all", len(got), total)
	}
}

func TestEveryFaultOfTheOptionsIsToldAtOnce(t *testing.T) {
	_, err := otelmw.New(otelmw.WithMaxNames(-1), otelmw.WithBuckets(1, 1))
	want := "otelmw.max_names: -1 is not allowed: must not be negative; 0 means 100\n" +
		"otelmw.buckets: [1 1] is not allowed: must be at least one bound, in seconds, finite and rising"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if f, ok := errors.AsType[*backstay.FieldError](err); !ok || f.Path != "otelmw.max_names" {
		t.Errorf("got %v", f)
	}
	for _, bounds := range [][]float64{{}, {2, 1}} {
		if _, err := otelmw.New(otelmw.WithBuckets(bounds...)); err == nil {
			t.Errorf("%v were accepted", bounds)
		}
	}
}

// Whoever has no SDK yet gets one later: the global providers are stand-ins.
func TestTheDefaultsAreTheGlobalProviders(t *testing.T) {
	o := observer(t, otelmw.WithMaxNames(0), otelmw.WithMeterProvider(nil), otelmw.WithTracerProvider(nil), otelmw.WithPropagator(nil))
	tell(t.Context(), o)
}

// refusing is a meter provider whose meter takes no counters.
type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

func (refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errDown
}

func TestWhatTheMeterProviderRefusesIsAnError(t *testing.T) {
	if o, err := otelmw.New(otelmw.WithMeterProvider(refusing{})); o != nil || !errors.Is(err, errDown) {
		t.Errorf("got %v, %v", o, err)
	}
}
