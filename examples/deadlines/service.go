package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/backstay-go/backstay/deadline"
)

// service does some work of its own, and then asks the next one.
type service struct {
	name   string
	takes  time.Duration // its own work
	needs  time.Duration // the least time in which it can answer
	next   *service      // nil for the last
	client *http.Client
	begin  func(*http.Request) (context.Context, context.CancelFunc, error)

	server *httptest.Server
	chain  *chain
}

// doNotRetry is the header that asks callers, and theirs, to leave it at that.
const doNotRetry = "X-Backstay-Retry"

func (s *service) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ctx, cancel, err := s.begin(req)
	defer cancel()
	if err != nil {
		s.chain.note(s.name, "refuses: %v", err)
		w.Header().Set(doNotRetry, "never") // it will not be any earlier then
		http.Error(w, err.Error(), http.StatusGatewayTimeout)
		return
	}
	if left, known := deadline.Remaining(ctx); known {
		s.chain.note(s.name, "begins, with %v left", left.Round(time.Millisecond))
	} else {
		s.chain.note(s.name, "begins, and does not know for how long")
	}
	if err := s.answer(ctx, w); err != nil {
		s.chain.note(s.name, "stops: %v", short(err))
		http.Error(w, short(err).Error(), http.StatusGatewayTimeout)
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
	if never := resp.Header.Get(doNotRetry); never != "" {
		w.Header().Set(doNotRetry, never)
	}
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
