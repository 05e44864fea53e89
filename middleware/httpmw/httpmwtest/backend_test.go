package httpmwtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
)

// ask sends one request straight to the backend and tells what came of it.
func ask(ctx context.Context, t *testing.T, b http.RoundTripper) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://payments.test/", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := b.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Sprint(resp.StatusCode, " ", err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(text))
}

func TestAScriptEndsWithItsLastStepAndALoopBeginsAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		backend *httpmwtest.Backend
		want    []string
	}{
		{"script", httpmwtest.Script(httpmwtest.Status(503), httpmwtest.Status(200).Body("x")), []string{"503 ", "200 x", "200 x", "200 x"}},
		{"loop", httpmwtest.Loop(httpmwtest.Status(503), httpmwtest.Status(200).Body("x")), []string{"503 ", "200 x", "503 ", "200 x"}},
		{"nothing", httpmwtest.Script(), []string{"200 ", "200 ", "200 ", "200 "}},
	} {
		var got []string
		for range c.want {
			got = append(got, ask(t.Context(), t, c.backend))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		c.backend.Want(t, len(c.want))
	}
}

func TestStepsAreValues(t *testing.T) {
	plain := httpmwtest.Status(503)
	named := plain.Header("A", "1")
	_ = named.Header("B", "2").RetryAfter(3 * time.Second)
	for step, want := range map[*httpmwtest.Step]int{&plain: 0, &named: 1} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://payments.test/", http.NoBody)
		resp, err := httpmwtest.Script(*step).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Header) != want {
			t.Errorf("headers %v, want %d", resp.Header, want)
		}
		_ = resp.Body.Close()
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	for name, step := range map[string]httpmwtest.Step{
		"before the answer": httpmwtest.BlackHole(),
		"within the body":   httpmwtest.Status(200).Body("text").Stall(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				if got := ask(ctx, t, httpmwtest.Script(step)); !strings.Contains(got, context.DeadlineExceeded.Error()) || time.Since(began) != time.Second {
					t.Errorf("%s after %v", got, time.Since(began))
				}
			})
		})
	}
}

func TestFailuresAreJudgedAsThoseOfANetwork(t *testing.T) {
	for _, c := range []struct {
		name string
		step httpmwtest.Step
		want error
		o    backstay.Outcome
	}{
		{"nobody listens", httpmwtest.Refuse(), syscall.ECONNREFUSED, backstay.Outcome{Class: backstay.Transient, Marks: backstay.Marks{Unsent: true}}},
		{"the connection breaks", httpmwtest.Reset(), syscall.ECONNRESET, backstay.Outcome{Class: backstay.Transient}},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://payments.test/", http.NoBody)
		resp, err := httpmwtest.Script(c.step).RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if o := httpmw.Classify(resp, err); !errors.Is(err, c.want) || o != c.o {
			t.Errorf("%s: %v, judged %+v", c.name, err, o)
		}
	}
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

// tally is a TB that counts what fails.
type tally struct {
	httpmwtest.TB
	failures int
}

func (t *tally) Helper()               {}
func (t *tally) Errorf(string, ...any) { t.failures++ }

func TestWantFailsWhereTheNumberIsAnother(t *testing.T) {
	var none tally
	httpmwtest.Script().Want(&none, 1)
	new(httpmwtest.Recorder).Want(&none, backstay.CallDone, 1)
	if none.failures != 2 {
		t.Errorf("%d failures, want 2", none.failures)
	}
}
