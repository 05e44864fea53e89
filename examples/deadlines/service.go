package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// service does some work of its own, and then asks the next one.
type service struct {
	name   string
	takes  time.Duration // its own work
	needs  time.Duration // the least time in which it can answer
	next   *service      // nil for the last
	client *http.Client
	front  http.Handler // leads to ServeHTTP

	server *httptest.Server
	chain  *chain
}

// Observe is told by what stands in front of the service.
func (s *service) Observe(_ context.Context, e backstay.Event) {
	if e.Kind == backstay.CallRejected {
		s.chain.note(s.name, "refuses: %v", e.Err)
	}
}

func (s *service) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ctx := req.Context()
	if left, known := deadline.Remaining(ctx); known {
		s.chain.note(s.name, "begins, with %v left", left.Round(time.Millisecond))
	} else {
		s.chain.note(s.name, "begins, and does not know for how long")
	}
	if err := s.answer(ctx, w); err != nil {
		s.chain.note(s.name, "stops: %v", short(err))
		httpmw.WriteError(w, err)
	}
}

// answer does the work, and passes on what the next service says.
func (s *service) answer(ctx context.Context, w http.ResponseWriter) error {
	if err := s.chain.work.do(ctx, s.takes); err != nil {
		return err
	}
	if s.next == nil {
		s.chain.note(s.name, "answers")
		_, err := io.WriteString(w, "3 in stock")
		return err
	}
	resp, err := s.ask(ctx)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	s.chain.note(s.name, "passes on the %s", resp.Status)
	w.WriteHeader(resp.StatusCode)
	_, err = io.Copy(w, resp.Body)
	return err
}

// ask sends a request to the next service.
func (s *service) ask(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.next.server.URL, nil)
	if err != nil {
		return nil, err
	}
	return s.client.Do(req)
}

// short is err without the path on which it came, where all it says is that the
// time is up.
func short(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}
