package main

import (
	"context"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// client returns a client of the service called name: the policies of its
// target, which follow the file, and below them the faults.
func (s *shop) client(name string, options ...httpmw.Option) (*http.Client, error) {
	target := s.policies.Target(name)
	wrong, err := newFaults(target, s.sight)
	if err != nil {
		return nil, err
	}
	transport, err := httpmw.NewTransport(chaos.NewTransport(s.wire, wrong.injector), target,
		append(options, httpmw.WithObserver(s.sight))...)
	if err != nil {
		return nil, err
	}
	s.later(transport.Close)
	return &http.Client{Transport: transport}, s.connect(name, transport.Pipelines(), wrong)
}

// connection returns the same for a service that speaks gRPC.
func (s *shop) connection(name string, options ...grpcmw.Option) (*grpc.ClientConn, error) {
	target := s.policies.Target(name)
	wrong, err := newFaults(target, s.sight)
	if err != nil {
		return nil, err
	}
	client, err := grpcmw.NewClient(target, append(options, grpcmw.WithObserver(s.sight))...)
	if err != nil {
		return nil, err
	}
	s.later(client.Close)
	conn, err := grpc.NewClient("passthrough:///"+name+".shop", append(client.DialOptions(),
		grpc.WithChainUnaryInterceptor(wrong.unary),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, name string) (net.Conn, error) { return s.network.Dial(ctx, name) }))...)
	if err != nil {
		return nil, err
	}
	s.later(func(context.Context) error { return conn.Close() })
	return conn, s.connect(name, client.Pipelines(), wrong)
}

// connect has pipelines and faults follow the policy file, and operators see
// the pipelines.
func (s *shop) connect(name string, pipelines *middleware.Registry, wrong *faults) error {
	s.faults[name], s.pipelines[name] = wrong, pipelines
	unbind := s.policies.Bind(name, pipelines, wrong)
	s.later(func(context.Context) error { unbind(); return nil })
	return s.sight.watch(name, pipelines)
}
