package main

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/backstay-go/backstay/middleware"
)

// A fault that names a host is for that of the connection, as the policies
// are, and not for the string it was dialled with.
func TestAFaultFindsAConnectionByItsHost(t *testing.T) {
	conn, err := grpc.NewClient("passthrough:///inventory.shop", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	for host, faulty := range map[string]bool{"inventory.shop": true, "*.shop": true, "search.shop": false} {
		drill := always(middleware.FaultRefused)
		drill[0].Match.Host = host
		f, err := newFaults(middleware.Target{Name: "inventory", Faults: drill}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.unary(t.Context(), stockMethod, nil, nil, conn, answers); (err != nil) != faulty {
			t.Errorf("a fault for %s: %v", host, err)
		}
	}
}
