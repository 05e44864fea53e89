package grpcmw_test

import (
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
)

// The real services of grpc-go, through a client whose breaker is open and a
// server that is full.
func TestHealthChecksAndReflectionPassWhatIsOpenAndFull(t *testing.T) {
	target := only("test")
	target.Breaker, target.Bulkhead = &breaker.Config{}, &bulkhead.Config{Limit: 1}
	c := client(t, target)
	s := server(t, middleware.Server{Bulkhead: &bulkhead.Config{Limit: 1}})

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	grpcServer := grpc.NewServer(s.ServerOptions()...)
	checks := health.NewServer()
	grpc_health_v1.RegisterHealthServer(grpcServer, checks)
	reflection.Register(grpcServer)
	go func() { _ = grpcServer.Serve(listener) }()
	t.Cleanup(grpcServer.Stop)
	cc, err := grpc.NewClient(listener.Addr().String(), append(c.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })

	pipeline := c.Pipelines().Get(listener.Addr().String(), backstay.Now())
	pipeline.Breaker().ForceOpen()
	for _, full := range []*bulkhead.Bulkhead{s.Bulkhead(), pipeline.Bulkhead()} {
		if _, err := full.Acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}

	probe := grpc_health_v1.NewHealthClient(cc)
	if r, err := probe.Check(t.Context(), nil); err != nil || r.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("the check: %v, %v", r, err)
	}
	watch, err := probe.Watch(t.Context(), new(grpc_health_v1.HealthCheckRequest))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []grpc_health_v1.HealthCheckResponse_ServingStatus{
		grpc_health_v1.HealthCheckResponse_SERVING, grpc_health_v1.HealthCheckResponse_NOT_SERVING,
	} {
		if r, err := watch.Recv(); err != nil || r.GetStatus() != want {
			t.Errorf("watched %v, %v, want %v", r, err, want)
		}
		checks.Shutdown()
	}

	asked, err := grpc_reflection_v1.NewServerReflectionClient(cc).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = asked.Send(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
	if r, err := asked.Recv(); err != nil || len(r.GetListServicesResponse().GetService()) != 3 {
		t.Errorf("reflection says %v, %v", r, err)
	}
	_ = asked.CloseSend()
}
