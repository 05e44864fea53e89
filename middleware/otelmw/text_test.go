package otelmw_test

import (
	"errors"
	"net/http"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/backstay-go/backstay"
)

// Of one attribute that is not UTF-8 the exporter for OTLP drops the whole
// batch, and the one for Prometheus fails every scrape from then on. Hosts that
// a caller makes up, and what a backend says, may be any bytes.
func TestWhatIsNoTextIsToldAsText(t *testing.T) {
	const junk = "junk\xff"
	l := newLab(t)
	failed := backstay.Event{
		Policy: junk, Key: junk, Operation: junk, Rung: junk, From: junk, To: junk, Reason: junk,
		Err: errors.New(junk), Outcome: backstay.Outcome{Class: backstay.Fault},
	}
	as := func(k backstay.Kind) backstay.Event { e := failed; e.Kind = k; return e }
	call, endCall := l.Start(t.Context(), as(backstay.CallStarted))
	ctx, endAttempt := l.Start(call, as(backstay.AttemptStarted))
	req := request(http.MethodGet, "http://junk%ff/\xff?q=\xff").WithContext(ctx)
	req.Method = junk
	if _, err := l.Transport(answer(http.StatusOK)).RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	endAttempt(as(backstay.AttemptDone))
	for _, k := range []backstay.Kind{backstay.FallbackUsed, backstay.BreakerChanged, backstay.CallRejected, backstay.CallDone} {
		l.Observe(call, as(k))
	}
	endCall(as(backstay.CallDone))

	for _, s := range l.ended() {
		wantText(t, s.Name(), s.Status().Description)
		wantTexts(t, s.Attributes())
		for _, e := range s.Events() {
			wantTexts(t, e.Attributes)
		}
	}
	for _, name := range []string{"backstay.calls", "backstay.call.duration", "backstay.fallbacks", "backstay.breaker.transitions"} {
		all := l.values(name)
		if len(all) == 0 {
			t.Errorf("%s has not moved", name)
		}
		for labels := range all {
			wantText(t, labels)
		}
	}
}

func wantTexts(t *testing.T, all []attribute.KeyValue) {
	t.Helper()
	for _, kv := range all {
		wantText(t, kv.Value.Emit())
	}
}

func wantText(t *testing.T, all ...string) {
	t.Helper()
	for _, s := range all {
		if !utf8.ValidString(s) {
			t.Errorf("%q is no text", s)
		}
	}
}
