package httpmwtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
)

// An answer that comes at the very limit is too late, every time.
func TestAHangOfTheTimeoutsLengthHangs(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			backend := httpmwtest.Script(httpmwtest.Status(503), httpmwtest.Hang(2*time.Second), httpmwtest.Status(200))
			resp, err := httpmwtest.Client(t, backend, middleware.Standard("payments")).Get("http://payments.test/")
			if err != nil || resp.StatusCode != http.StatusOK || resp.Body.Close() != nil {
				t.Errorf("%v, %v", resp, err)
			}
			backend.Want(t, 3)
		})
	}
}

// The outage of a whole service, from the first failure to the last probe.
func TestAnOutageTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen httpmwtest.Recorder
		target := middleware.Standard("payments")
		target.Retry = nil
		backend := httpmwtest.Script(httpmwtest.Refuse().Times(12), httpmwtest.Status(200))
		client := httpmwtest.Client(t, backend, target, httpmw.WithObserver(&seen))
		began := time.Now()
		for {
			resp, err := client.Get("http://payments.test/")
			if err == nil {
				_ = resp.Body.Close()
				break
			}
			time.Sleep(time.Second)
		}
		// Ten failures open it for 5 s, two probes fail and double that twice.
		if took := time.Since(began).Round(time.Second); took < 40*time.Second || took > 50*time.Second {
			t.Errorf("found again after %v", took)
		}
		backend.Want(t, 13)
		changes := seen.Events(backstay.BreakerChanged)
		if last := changes[len(changes)-1]; last.To != "closed" {
			t.Errorf("the breaker is %s in the end", last.To)
		}
	})
}

func TestAFaultOfTheTargetEndsTheTest(t *testing.T) {
	fatal := &fatality{TB: t}
	func() {
		defer func() { _ = recover() }()
		httpmwtest.Client(fatal, httpmwtest.Script(), middleware.Target{Name: "payments", Keys: middleware.Keys{Max: -1}})
	}()
	if !strings.Contains(fatal.text, "payments.keys.max") {
		t.Errorf("got %q", fatal.text)
	}
}

// fatality is a TB that remembers what was fatal.
type fatality struct {
	httpmwtest.TB
	text string
}

func (f *fatality) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic("over")
}

// The test of the package's documentation.
func TestAChargeSurvivesABlip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := httpmwtest.Script(
			httpmwtest.Status(503).RetryAfter(time.Second),
			httpmwtest.Hang(3*time.Second),
			httpmwtest.Status(200).Body("charged").After(10*time.Millisecond),
		)
		var seen httpmwtest.Recorder
		client := httpmwtest.Client(t, backend, middleware.Standard("payments"), httpmw.WithObserver(&seen))
		resp, err := client.Get("http://payments.test/")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || string(text) != "charged" || resp.Body.Close() != nil {
			t.Errorf("%q, %v", text, err)
		}
		backend.Want(t, 3)
		seen.Want(t, backstay.RetryPlanned, 2)
		seen.Want(t, backstay.CallDone, 1)
		if w := backend.Waits(); w[0] < time.Second || w[1] < 2*time.Second {
			t.Errorf("waited %v", w)
		}
		if got := len(seen.Events()); got != 6 { // three attempts, two plans, the end
			t.Errorf("%d events: %v", got, seen.Events())
		}
	})
}
