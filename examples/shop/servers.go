package main

import (
	"context"
	"net/http"

	"google.golang.org/grpc"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// guard returns what the file says of servers, for the one called name. Its
// name is not that of the target: one counts what is asked of the service, the
// other what the service is asked for.
func (s *shop) guard(name string) middleware.Server {
	server := s.policies.Server()
	server.Name = name + "-server"
	return server
}

// serve serves routes over HTTP under the name of a service, behind what
// protects servers.
func (s *shop) serve(ctx context.Context, name string, routes http.Handler, outside func(http.Handler) http.Handler, options ...httpmw.HandlerOption) error {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return err
	}
	handler, err := httpmw.NewHandler(routes, s.guard(name),
		append(options, httpmw.ServerStore(store), httpmw.ServerObserver(s.sight))...)
	if err != nil {
		return err
	}
	s.later(handler.Close)
	stop, err := serve(ctx, s.network, name+".shop", outside(handler))
	if err != nil {
		return err
	}
	s.later(func(context.Context) error { return stop() })
	return nil
}

// bare puts nothing around a handler.
func bare(h http.Handler) http.Handler { return h }

func (s *shop) openSearch(ctx context.Context) error {
	return s.serve(ctx, "search", new(search).routes(), bare)
}

func (s *shop) openPayments(ctx context.Context) error {
	s.payments = &payments{ledger: s.ledger}
	return s.serve(ctx, "payments", s.payments.routes(), s.payments.losing)
}

// openInventory serves the inventory over gRPC.
func (s *shop) openInventory(ctx context.Context) error {
	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		return err
	}
	guard, err := grpcmw.NewServer(s.guard("inventory"), grpcmw.ServerStore(store), grpcmw.ServerObserver(s.sight))
	if err != nil {
		return err
	}
	s.later(guard.Close)
	listener, err := s.network.Listen(ctx, "inventory.shop")
	if err != nil {
		return err
	}
	server := grpc.NewServer(append(guard.ServerOptions(), grpc.WaitForHandlers(true))...)
	server.RegisterService((&inventory{ledger: s.ledger}).desc(), nil)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	s.later(func(context.Context) error {
		server.GracefulStop()
		return <-done
	})
	return nil
}
