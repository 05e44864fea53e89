package httpmwtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
)

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

func TestABodyMayBreakOff(t *testing.T) {
	for body, want := range map[string]string{"text": "tex", "t": "", "": ""} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://payments.test/", http.NoBody)
		resp, err := httpmwtest.Script(httpmwtest.Status(200).Body(body).Truncate()).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if string(got) != want || !errors.Is(err, io.ErrUnexpectedEOF) || resp.ContentLength != int64(len(body)) {
			t.Errorf("of %q: %q, %v", body, got, err)
		}
		_ = resp.Body.Close()
	}
}

func TestBodiesAreThoseOfATransport(t *testing.T) {
	step := httpmwtest.Status(200).Body("text")
	head, _ := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://payments.test/", http.NoBody)
	resp, err := httpmwtest.Script(step).RoundTrip(head)
	if err != nil || resp.Body != http.NoBody || resp.ContentLength != 4 {
		t.Errorf("HEAD: %+v, %v", resp, err)
	}
	get, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://payments.test/", http.NoBody)
	resp, err = httpmwtest.Script(step).RoundTrip(get)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("after Close: %v", err)
	}
}
