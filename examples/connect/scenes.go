package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
)

// scene is one thing that goes wrong.
type scene struct {
	title string
	play  func(ctx context.Context, s *shop, out io.Writer) error
}

var scenes = []scene{
	{"1. The server fails twice; a read comes through", failingRead},
	{"2. The answer to an order is lost; it is taken once", lostAnswer},
	{"3. Each attempt tells the server what it has left", toldDeadline},
	{"4. The breaker is open; that is a Connect error too", openBreaker},
}

func failingRead(ctx context.Context, s *shop, out io.Writer) error {
	s.failures.Store(2)
	ctx, report := backstay.WithReport(ctx)
	got, err := s.price.CallUnary(ctx, connect.NewRequest(wrapperspb.String("tea")))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "   %s, after %d attempts\n", got.Msg.GetValue(), report.Summary().Attempts)
	return nil
}

func lostAnswer(ctx context.Context, s *shop, out io.Writer) error {
	s.lost.Store(1)
	got, err := s.order.CallUnary(ctx, connect.NewRequest(wrapperspb.String("tea")))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "   %s (a replay: %s); orders taken: %d\n",
		got.Msg.GetValue(), got.Header().Get("Idempotent-Replayed"), s.orders.Load())
	return nil
}

func toldDeadline(ctx context.Context, s *shop, out io.Writer) error {
	s.failures.Store(1)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := s.price.CallUnary(ctx, connect.NewRequest(wrapperspb.String("tea"))); err != nil {
		return err
	}
	first, second := <-s.told, <-s.told
	fmt.Fprintf(out, "   the second attempt has less left than the first: %v\n", second < first)
	return nil
}

func openBreaker(ctx context.Context, s *shop, out io.Writer) error {
	address, err := url.Parse(s.server.URL)
	if err != nil {
		return err
	}
	s.transport.Pipelines().Get(address.Host, backstay.Now()).Breaker().ForceOpen()
	_, err = s.price.CallUnary(ctx, connect.NewRequest(wrapperspb.String("tea")))
	fmt.Fprintf(out, "   code %v, refused here: %v, requests sent: %d\n",
		connect.CodeOf(err), errors.Is(err, backstay.ErrRejected), s.prices.Load())
	return nil
}
