package httpmwtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
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

func TestAStepMayServeSeveralRequests(t *testing.T) {
	for name, c := range map[string]struct {
		backend *httpmwtest.Backend
		want    string
	}{
		"script": {httpmwtest.Script(httpmwtest.Status(503).Times(3), httpmwtest.Status(429).Times(2), httpmwtest.Status(200)), "503 503 503 429 429 200 200 200"},
		"loop":   {httpmwtest.Loop(httpmwtest.Status(503).Times(2), httpmwtest.Status(200)), "503 503 200 503 503 200 503 503"},
	} {
		var got []string
		for range 8 {
			got = append(got, strings.TrimSpace(ask(t.Context(), t, c.backend)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTheBackendRemembersWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := httpmwtest.Script(httpmwtest.Status(200), httpmwtest.Fail(errors.New("down")), httpmwtest.Serve(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("not read")
		}))
		for i := range 3 {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://payments.test/", strings.NewReader(fmt.Sprint("body ", i)))
			if i > 0 {
				req.Header.Set("X-Number", fmt.Sprint(i))
			}
			resp, err := backend.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			time.Sleep(time.Second)
		}
		if got := backend.Contents(); !slices.Equal(got, []string{"body 0", "body 1", ""}) {
			t.Errorf("bodies %q", got)
		}
		if got := backend.Headers("x-number"); !slices.Equal(got, []string{"", "1", "2"}) {
			t.Errorf("headers %q", got)
		}
		if got := backend.Waits(); !slices.Equal(got, []time.Duration{time.Second, time.Second}) {
			t.Errorf("waits %v", got)
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
