package deadline_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
)

// Acceptance case C47.
func TestC47_EveryCodecKeeps99PercentOfTheDeadline(t *testing.T) {
	for _, codec := range codecs() {
		for _, left := range []time.Duration{119 * time.Second, 1900 * time.Millisecond, 90 * time.Minute} {
			got, err := codec.Decode(codec.Encode(left, sent), sent)
			if err != nil || got > left+left/100 || got < left-left/100 {
				t.Errorf("%s: %v came back as %v, %v", codec.Name(), left, got, err)
			}
		}
	}
}

// Acceptance case C47.
func TestC47_AHeaderThatIsNotUsableIsIgnoredCountedAndExtendsNothing(t *testing.T) {
	for _, header := range deadline.CodecNames() {
		for name, value := range map[string]string{"negative": "-5", "empty": "", "10^12": "1000000000000", "an exponent": "1e3", "junk": "soon", "20 digits": "99999999999999999999"} {
			t.Run(header+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var events []backstay.Event
					in := incoming(t, deadline.IncomingConfig{Headers: []string{header}}, &events)
					h := make(http.Header)
					h.Set(header, value)
					ctx, cancel, err := deadline.Extract(t.Context(), h, in, 0)
					defer cancel()
					if left, ok := deadline.Remaining(ctx); err != nil || !ok || left != deadline.DefaultCap {
						t.Errorf("%v left, %v, %v", left, ok, err)
					}
					counted := len(events) == 1 && events[0].Kind == backstay.HeaderIgnored
					// Envoy's form has any number of digits: those are a long time, and the cap is shorter.
					if long := header == "x-envoy-expected-rq-timeout-ms" && len(value) > 10; counted == long {
						t.Errorf("told %+v", events)
					}
				})
			})
		}
	}
}

// Acceptance case C47.
func TestC47_TimeInTheServersQueueIsSubtracted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := incoming(t, deadline.IncomingConfig{Minimum: time.Second}, new([]backstay.Event))
		arrived := backstay.Now()
		time.Sleep(3 * time.Second)
		ctx, cancel, err := deadline.Extract(t.Context(), ours("5000"), in, arrived)
		defer cancel()
		if left, ok := deadline.Remaining(ctx); err != nil || !ok || left != 2*time.Second {
			t.Errorf("%v left, %v, %v", left, ok, err)
		}
		time.Sleep(1500 * time.Millisecond)
		if _, cancel, err := deadline.Extract(t.Context(), ours("5000"), in, arrived); err == nil {
			t.Error("taken up with less than the minimum left")
			cancel()
		}
	})
}
