package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
)

func TestTheStory(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"event 3 after",
		"101 Switching Protocols; said hello, and heard hello",
		"both are quick:      one answers 10 of 20, two answers 10",
		"two gets slow:       one answers 15 of 20, two answers  5",
		"its breaker is open: one answers 20 of 20, two answers  0",
		"it is quick again:   one answers 10 of 20, two answers 10",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, &out)
		}
	}
}

func TestBackendsThatCannotBeAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		method string
		open   []string // whose breakers are held open
		want   int
		answer string
	}{
		{"one of them", http.MethodGet, []string{"a.test"}, http.StatusOK, "b.test"},
		{"one of them, with a body", http.MethodPost, []string{"a.test"}, http.StatusOK, "b.test"},
		{"none is left", http.MethodGet, []string{"a.test", "b.test"}, http.StatusServiceUnavailable, "not available"},
	} {
		t.Run(c.name, func(t *testing.T) {
			handler, transport, err := newProxy(named{}, []string{"a.test", "b.test"})
			if err != nil {
				t.Fatal(err)
			}
			for _, host := range c.open {
				transport.Pipelines().Get(host, backstay.Now()).Breaker().ForceOpen()
			}
			for range 4 { // whoever's turn it is
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, "/", strings.NewReader("text")))
				if w.Code != c.want || !strings.Contains(w.Body.String(), c.answer) {
					t.Errorf("got %d %s", w.Code, w.Body)
				}
			}
		})
	}
}

// named answers with the name of the host that was asked.
type named struct{}

func (named) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.WriteString(req.URL.Host)
	return w.Result(), req.Body.Close()
}
