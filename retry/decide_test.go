package retry_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

func TestNext(t *testing.T) {
	transient := backstay.Outcome{Class: backstay.Transient}
	asked := func(d time.Duration) backstay.Outcome {
		return backstay.Outcome{Class: backstay.Overload, RetryAfter: d}
	}
	pushed := func(d time.Duration) backstay.Outcome {
		return backstay.Outcome{Class: backstay.Overload, RetryAfter: d, Marks: backstay.Marks{Pushback: true}}
	}
	no := func(r backstay.Reason) retry.Decision { return retry.Decision{Reason: r} }
	after := func(d time.Duration) retry.Decision { return retry.Decision{Retry: true, Wait: d} }
	tooLong := func(d time.Duration) retry.Decision {
		return retry.Decision{Reason: backstay.ReasonNoTime, Wait: d}
	}
	plain := retry.Config{}

	tests := map[string]struct {
		config retry.Config
		state  retry.State
		want   retry.Decision
	}{
		"a success is not retried":         {plain, retry.State{Attempt: 1}, retry.Decision{}},
		"a rejection has its own reason":   {plain, retry.State{Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Rejected}}, retry.Decision{}},
		"a caller that left is not":        {plain, retry.State{Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Canceled}}, no(backstay.ReasonCanceled)},
		"a mistake of the caller's is not": {plain, retry.State{Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Permanent}}, no(backstay.ReasonDoNotRetry)},
		"a fault is not":                   {plain, retry.State{Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Fault}}, no(backstay.ReasonDoNotRetry)},
		"a final failure is not":           {plain, retry.State{Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Final: true}}}, no(backstay.ReasonDoNotRetry)},

		"a transient failure is retried after our own wait": {plain, retry.State{Attempt: 1, Outcome: transient, Backoff: 70}, after(70)},
		"an overload that names no wait too":                {plain, retry.State{Attempt: 2, Outcome: asked(0), Backoff: 70}, after(70)},
		"the last attempt is the last":                      {plain, retry.State{Attempt: 3, Outcome: transient}, no(backstay.ReasonExhausted)},
		"a call may ask for more attempts":                  {plain, retry.State{Attempt: 3, MaxAttempts: 4, Outcome: transient}, after(0)},
		"a call may ask for fewer attempts":                 {plain, retry.State{Attempt: 1, MaxAttempts: 1, Outcome: transient}, no(backstay.ReasonExhausted)},
		"Stop is the end of the series":                     {plain, retry.State{Attempt: 1, Outcome: transient, Backoff: backoff.Stop}, no(backstay.ReasonExhausted)},
		"other negative waits are none":                     {plain, retry.State{Attempt: 1, Outcome: transient, Backoff: -2}, after(0)},
		"a request that must not be sent twice is not":      {plain, retry.State{Attempt: 1, Outcome: transient, Unrepeatable: errors.New("POST")}, no(backstay.ReasonNotRepeatable)},
		"layers do not multiply":                            {plain, retry.State{Attempt: 1, Outcome: transient, Nested: true}, no(backstay.ReasonNested)},
		"unless they are told to":                           {retry.Config{RetryNested: true}, retry.State{Attempt: 1, Outcome: transient, Nested: true}, after(0)},

		"a server's wait and ours add up":        {plain, retry.State{Attempt: 1, Outcome: asked(5 * time.Second), Backoff: 70}, after(5*time.Second + 70)},
		"a negative server's wait is none":       {plain, retry.State{Attempt: 1, Outcome: asked(-5), Backoff: 70}, after(70)},
		"a server may ask for MaxServerWait":     {plain, retry.State{Attempt: 1, Outcome: asked(30 * time.Second), Backoff: 70}, after(30 * time.Second)},
		"but not for more":                       {plain, retry.State{Attempt: 1, Outcome: asked(30*time.Second + 1)}, tooLong(30*time.Second + 1)},
		"nor without end":                        {plain, retry.State{Attempt: 1, Outcome: asked(math.MaxInt64), Backoff: 70}, tooLong(math.MaxInt64)},
		"our part is folded below MaxServerWait": {plain, retry.State{Attempt: 1, Outcome: asked(30*time.Second - 50), Backoff: 70}, after(30*time.Second - 50 + 19)},
		"a server's wait can be refused":         {retry.Config{MaxServerWait: retry.NoWait}, retry.State{Attempt: 1, Outcome: asked(1)}, tooLong(1)},
		"which leaves pushback without one": {
			retry.Config{MaxServerWait: retry.NoWait},
			retry.State{Attempt: 1, Outcome: pushed(0)},
			retry.Decision{Retry: true, Restart: true},
		},
		"and our own": {retry.Config{MaxServerWait: retry.NoWait}, retry.State{Attempt: 1, Outcome: asked(0), Backoff: 70}, after(70)},
		"the longest waits do not overflow": {
			retry.Config{MaxServerWait: math.MaxInt64},
			retry.State{Attempt: 1, Outcome: asked(math.MaxInt64 - 1), Backoff: math.MaxInt64},
			after(math.MaxInt64),
		},

		"pushback is exact":                 {plain, retry.State{Attempt: 1, Outcome: pushed(7), Backoff: 70}, retry.Decision{Retry: true, Wait: 7, Restart: true}},
		"pushback may be at once":           {plain, retry.State{Attempt: 1, Outcome: pushed(0), Backoff: 70}, retry.Decision{Retry: true, Restart: true}},
		"pushback restarts an ended series": {plain, retry.State{Attempt: 1, Outcome: pushed(7), Backoff: backoff.Stop}, retry.Decision{Retry: true, Wait: 7, Restart: true}},
		"pushback is bounded":               {plain, retry.State{Attempt: 1, Outcome: pushed(time.Minute)}, tooLong(time.Minute)},
		"pushback makes no more attempts":   {plain, retry.State{Attempt: 3, Outcome: pushed(0)}, no(backstay.ReasonExhausted)},

		"a wait that just fits is kept":            {plain, retry.State{Attempt: 1, Outcome: transient, Backoff: 70, Bounded: true, Remaining: 10*time.Millisecond + 70}, after(70)},
		"a wait that just does not fit is not":     {plain, retry.State{Attempt: 1, Outcome: transient, Backoff: 70, Bounded: true, Remaining: 10*time.Millisecond + 69}, tooLong(70)},
		"an attempt without time is not made":      {plain, retry.State{Attempt: 1, Outcome: transient, Bounded: true, Remaining: 10*time.Millisecond - 1}, tooLong(0)},
		"nor one after the deadline":               {plain, retry.State{Attempt: 1, Outcome: transient, Bounded: true, Remaining: math.MinInt64}, tooLong(0)},
		"a server's wait must fit too":             {plain, retry.State{Attempt: 1, Outcome: asked(time.Second), Bounded: true, Remaining: time.Second}, tooLong(time.Second)},
		"pushback must fit too":                    {plain, retry.State{Attempt: 1, Outcome: pushed(time.Second), Bounded: true, Remaining: time.Second}, tooLong(time.Second)},
		"what is left of an unbounded call is not": {plain, retry.State{Attempt: 1, Outcome: transient, Backoff: 70, Remaining: 1}, after(70)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := policy(t, test.config).Next(test.state)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestANilPolicyDecidesAgainstARetry(t *testing.T) {
	var p *retry.Policy
	got := p.Next(retry.State{Attempt: 1, Outcome: backstay.Outcome{Class: backstay.Transient}})
	if got != (retry.Decision{Reason: backstay.ReasonExhausted}) {
		t.Errorf("got %+v", got)
	}
	if got := p.Backoff(1, math.MaxUint64); got != 0 {
		t.Errorf("waits %v", got)
	}
}

// FuzzNext looks for a state whose decision breaks a promise.
func FuzzNext(f *testing.F) {
	f.Add(1, uint8(1), int64(0), int64(0), int64(0), false, false)
	f.Add(2, uint8(2), int64(math.MaxInt64), int64(math.MaxInt64), int64(1), true, true)
	f.Add(1, uint8(2), int64(29e9), int64(5e9), int64(40e9), false, true)
	f.Add(1, uint8(1), int64(math.MinInt64), int64(math.MinInt64), int64(math.MinInt64), true, true)
	p, err := retry.New(retry.Config{})
	if err != nil {
		f.Fatal(err)
	}
	c := p.Config()
	f.Fuzz(func(t *testing.T, attempt int, class uint8, theirs, ours, remaining int64, pushback, bounded bool) {
		s := retry.State{
			Attempt: attempt,
			Outcome: backstay.Outcome{
				Class: backstay.Class(class), RetryAfter: time.Duration(theirs), Marks: backstay.Marks{Pushback: pushback},
			},
			Backoff: time.Duration(ours), Remaining: time.Duration(remaining), Bounded: bounded,
		}
		d := p.Next(s)
		if !d.Retry {
			return
		}
		switch {
		case d.Reason != "":
			t.Errorf("a retry for a reason against it: %+v", d)
		case !s.Outcome.Class.Retryable():
			t.Errorf("retries a %v", s.Outcome.Class)
		case attempt >= c.MaxAttempts:
			t.Errorf("makes attempt %d", attempt+1)
		case d.Wait < 0 || d.Wait < s.Outcome.RetryAfter:
			t.Errorf("comes early: waits %v for %v", d.Wait, s.Outcome.RetryAfter)
		case s.Outcome.RetryAfter > 0 && d.Wait > c.MaxServerWait:
			t.Errorf("waits %v for a server", d.Wait)
		case bounded && d.Wait > s.Remaining-c.MinAttemptTime:
			t.Errorf("waits %v of %v", d.Wait, s.Remaining)
		}
	})
}
