package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
)

// shop is the order service in a bubble of virtual time, without a network.
type shop struct {
	*testing.T
	log   *memory.Log
	node  *actors.Node
	front http.Handler
	cards cardTalk
}

// inShop runs a test on a shop whose node hosts the orders, or does not.
func inShop(t *testing.T, hosts bool, test func(s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{T: t, log: memory.New()}
		s.node = s.open(hosts)
		s.restart()
		test(s)
	})
}

// open starts a node.
func (s *shop) open(hosts bool) *actors.Node {
	s.Helper()
	cards, err := newCards("http://cards", &s.cards, nil)
	if err != nil {
		s.Fatal(err)
	}
	var hostings []actors.Hosting
	if hosts {
		hostings = append(hostings, host(cards))
	}
	node, err := actors.Open(s.Context(), actors.Config{Window: time.Minute}, s.log, hostings...)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			s.Error(err)
		}
	})
	return node
}

// restart forgets the answers that the front has kept.
func (s *shop) restart() {
	s.Helper()
	var err error
	if s.front, err = newHandler(); err != nil {
		s.Fatal(err)
	}
}

// post orders something, under a key.
func (s *shop) post(key string, cents int, patience time.Duration) (status int, body string) {
	s.Helper()
	form := strings.NewReader(fmt.Sprintf(`{"card":"5105-1","cents":%d}`, cents))
	req := httptest.NewRequestWithContext(s.node.Context(s.Context()), http.MethodPost, "/orders", form)
	req.Header.Set("Customer", "alice")
	req.Header.Set(deadline.DefaultHeader, strconv.FormatInt(patience.Milliseconds(), 10))
	if key != "" {
		req.Header.Set(idempotency.DefaultHeader, key)
	}
	w := httptest.NewRecorder()
	s.front.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// cardTalk is the card service, and remembers what it was asked.
type cardTalk struct {
	asked   []string      // method, time left, key
	failing int           // so many charges fail first
	takes   time.Duration // for a charge
	charges int
}

// RoundTrip answers.
func (c *cardTalk) RoundTrip(req *http.Request) (*http.Response, error) {
	c.asked = append(c.asked, strings.Join([]string{req.Method, req.Header.Get(deadline.DefaultHeader), req.Header.Get(idempotency.DefaultHeader)}, " "))
	w := httptest.NewRecorder()
	switch {
	case req.Method == http.MethodGet:
		time.Sleep(100 * time.Millisecond)
	case c.failing > 0:
		c.failing--
		return nil, errors.New("the line is dead")
	default:
		time.Sleep(c.takes)
		c.charges++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "charge-%d", c.charges)
	}
	return w.Result(), nil
}

func TestTheDeadlineAndTheKeyReachTheCardService(t *testing.T) {
	inShop(t, true, func(s *shop) {
		status, body := s.post("k", 100, 700*time.Millisecond)
		if status != http.StatusCreated {
			t.Errorf("got %d %s", status, body)
		}
		// What is read while the customer waits has the customer's time, less the
		// way back. What comes behind has the time of a step, and a key.
		key := keyOf(s.cards.asked[1])
		want := []string{"GET 690 ", "POST 1000 " + idempotency.Format(key, false)}
		if key == "" || key == "k" || !slices.Equal(s.cards.asked, want) {
			t.Errorf("asked %q, want %q", s.cards.asked, want)
		}
	})
}

func TestAChargeThatFailsIsTriedAgainUnderTheSameKey(t *testing.T) {
	inShop(t, true, func(s *shop) {
		s.cards.failing = 5 // more than one attempt of the method makes
		if status, body := s.post("k", 100, 20*time.Second); status != http.StatusCreated || s.cards.charges != 1 {
			t.Errorf("got %d %s, %d charges", status, body, s.cards.charges)
		}
		for _, asked := range s.cards.asked[1:] {
			if keyOf(asked) != keyOf(s.cards.asked[1]) {
				t.Errorf("asked %q", s.cards.asked)
			}
		}
	})
}

func TestACustomerWhoComesBackGetsTheAnswerThatWasNotReadyInTime(t *testing.T) {
	inShop(t, true, func(s *shop) {
		s.cards.takes = 800 * time.Millisecond
		began := time.Now()
		status, body := s.post("k", 100, 500*time.Millisecond)
		if took := time.Since(began); status != http.StatusGatewayTimeout || took != 490*time.Millisecond {
			t.Errorf("got %d %s after %v", status, body, took)
		}
		if status, body = s.post("k", 100, time.Second); status != http.StatusCreated || s.cards.charges != 1 {
			t.Errorf("then %d %s, %d charges", status, body, s.cards.charges)
		}
	})
}

func TestTwoClicksAreOneOrder(t *testing.T) {
	inShop(t, true, func(s *shop) {
		s.cards.takes = 500 * time.Millisecond
		var clicks sync.WaitGroup
		answers := make([]string, 3)
		for i, patience := range []time.Duration{time.Second, time.Second, 300 * time.Millisecond} {
			clicks.Go(func() {
				status, body := s.post("k", 100, patience)
				answers[i] = fmt.Sprint(status, body)
			})
			synctest.Wait() // the first is under way
		}
		clicks.Wait()
		if !strings.HasPrefix(answers[0], "201") || answers[1] != answers[0] || s.cards.charges != 1 {
			t.Errorf("got %q, %d charges", answers, s.cards.charges)
		}
		if !strings.HasPrefix(answers[2], "409") {
			t.Errorf("who cannot wait gets %q", answers[2])
		}
	})
}

func TestAnOrderIsChargedOnceForEver(t *testing.T) {
	for name, later := range map[string]time.Duration{"while the call's answer is kept": 0, "when only the actor knows": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inShop(t, true, func(s *shop) {
				_, first := s.post("k", 100, time.Second)
				s.restart()
				time.Sleep(later)
				if status, again := s.post("k", 100, time.Second); status != http.StatusCreated || again != first || s.cards.charges != 1 {
					t.Errorf("got %d %s, want %s; %d charges", status, again, first, s.cards.charges)
				}
				s.restart()
				if status, body := s.post("k", 200, time.Second); status != http.StatusUnprocessableEntity {
					t.Errorf("another order under the key: %d %s", status, body)
				}
			})
		})
	}
}

func TestAnOrderThatNobodyBeganInTimeIsNeverCharged(t *testing.T) {
	inShop(t, false, func(s *shop) {
		if status, body := s.post("k", 100, 500*time.Millisecond); status != http.StatusGatewayTimeout || strings.Contains(body, "expired") {
			t.Errorf("while it may yet begin: %d %s", status, body)
		}
		time.Sleep(time.Second)
		s.open(true)
		for range 2 {
			if status, body := s.post("k", 100, time.Minute); status != http.StatusGatewayTimeout || !strings.Contains(body, `"expired"`) {
				t.Errorf("then %d %s", status, body)
			}
		}
		if len(s.cards.asked) != 0 {
			t.Errorf("asked %q", s.cards.asked)
		}
	})
}

func TestHowTheEndsOfACallAreAnswered(t *testing.T) {
	call := func(err error) error { return &actors.CallError{Actor: "order/1", Method: "place", Err: err} }
	for _, row := range []struct {
		name   string
		err    error
		status int
		never  bool // another attempt is not invited
	}{
		{"expired", call(actors.ErrExpired), http.StatusGatewayTimeout, true},
		{"no answer in time", call(fmt.Errorf("%w: %w", actors.ErrUnanswered, context.DeadlineExceeded)), http.StatusGatewayTimeout, false},
		{"the customer has left", call(fmt.Errorf("%w: %w", actors.ErrUnanswered, context.Canceled)), 499, false},
		{"mailbox full", call(actors.ErrMailboxFull), http.StatusServiceUnavailable, true},
		{"given up", call(actors.ErrPoison), http.StatusInternalServerError, false},
		{"nothing to be paid", ErrNothing, http.StatusUnprocessableEntity, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			writeError(w, fmt.Errorf("placing: %w", row.err))
			if never := w.Header().Get("X-Backstay-Retry") == "never"; w.Code != row.status || never != row.never {
				t.Errorf("got %d %v", w.Code, w.Header())
			}
		})
	}
}

func TestWhatCannotBeOrderedIsSaid(t *testing.T) {
	inShop(t, true, func(s *shop) {
		if status, body := s.post("k", 0, time.Second); status != http.StatusUnprocessableEntity || len(s.cards.asked) != 0 {
			t.Errorf("nothing: %d %s", status, body)
		}
		if status, body := s.post("", 100, time.Second); status != http.StatusBadRequest {
			t.Errorf("no key: %d %s", status, body)
		}
	})
}

// keyOf is the key with which the card service was asked.
func keyOf(asked string) string {
	key, _ := idempotency.Parse(asked[strings.LastIndexByte(asked, ' ')+1:])
	return key
}
