package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// The procedures of the shop. Generated code has these names as constants.
const (
	price = "/shop.v1.Shop/Price" // reads
	order = "/shop.v1.Shop/Order" // writes
)

// text is the message of both; any message of a schema does.
type text = wrapperspb.StringValue

// shop is a Connect service on loopback, and a client of it, both under
// Backstay.
type shop struct {
	server    *httptest.Server
	network   *http.Transport
	transport *httpmw.Transport
	price     *connect.Client[text, text]
	order     *connect.Client[text, text]

	failures atomic.Int32 // answers that are still to be UNAVAILABLE
	lost     atomic.Int32 // answers that are still to get lost
	prices   atomic.Int32 // prices that were asked for
	orders   atomic.Int32 // orders that were taken
	told     chan time.Duration
}

func newShop() (*shop, error) {
	s := &shop{network: &http.Transport{}, told: make(chan time.Duration, 8)}
	handler, err := s.handler()
	if err != nil {
		return nil, err
	}
	s.server = httptest.NewServer(s.losing(handler))
	s.transport, err = httpmw.NewTransport(s.network, target())
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: s.transport}
	s.price = connect.NewClient[text, text](client, s.server.URL+price,
		connect.WithIdempotency(connect.IdempotencyNoSideEffects), connect.WithInterceptors(connect.UnaryInterceptorFunc(marks)))
	s.order = connect.NewClient[text, text](client, s.server.URL+order)
	return s, nil
}

// target is what protects the client's calls: the policies of services that
// belong together, a key for every order, and the deadline of each attempt in
// the header that Connect itself reads.
func target() middleware.Target {
	t := middleware.Internal("shop")
	t.Propagate.Header = "connect-timeout-ms"
	t.Idempotency = &idempotency.Config{Generate: true}
	return t
}

// handler returns the two procedures behind what protects the server. Deadlines
// are Connect's own business: it takes them up by itself.
func (s *shop) handler() (http.Handler, error) {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return nil, err
	}
	protects := middleware.StandardServer("shop")
	protects.Idempotency = &idempotency.GuardConfig{}
	mux := http.NewServeMux()
	mux.Handle(price, connect.NewUnaryHandler(price, s.priced, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	mux.Handle(order, connect.NewUnaryHandler(order, s.ordered))
	return httpmw.NewHandler(mux, protects, httpmw.ServerStore(store))
}

func (s *shop) priced(ctx context.Context, req *connect.Request[text]) (*connect.Response[text], error) {
	s.prices.Add(1)
	if left, bounded := deadline.Remaining(ctx); bounded {
		s.told <- left
	}
	if s.failures.Add(-1) >= 0 {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the till is down"))
	}
	return connect.NewResponse(wrapperspb.String(req.Msg.GetValue() + ": 3.50")), nil
}

func (s *shop) ordered(_ context.Context, req *connect.Request[text]) (*connect.Response[text], error) {
	n := s.orders.Add(1)
	return connect.NewResponse(wrapperspb.String(fmt.Sprintf("order %d: %s", n, req.Msg.GetValue()))), nil
}

// losing loses the answers that are to get lost, as a connection does that
// breaks once the work is done.
func (s *shop) losing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.lost.Add(-1) < 0 {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

func (s *shop) close() {
	s.server.Close()
	s.network.CloseIdleConnections()
}
