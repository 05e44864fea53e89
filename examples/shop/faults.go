package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// act is a part of a round.
type act struct {
	title string
	on    string             // whose calls have the fault
	fault []middleware.Fault // on their way
	loses bool               // payments lose answers
	was   string             // what somebody replaces in the policy file,
	is    string             // and by what
	crowd float64            // how many times as many customers as usual; 0: as many
}

// script is what happens in a round.
var script = []act{
	{title: "all is well"},
	{title: "inventory is slow: it needs 250 ms, and has 100", on: "inventory", fault: late(250 * time.Millisecond)},
	{
		title: "somebody gives it 400 ms, in policies.yaml", on: "inventory", fault: late(250 * time.Millisecond),
		was: "timeout: {after: 100ms}", is: "timeout: {after: 400ms}",
	},
	{title: "payments charge, and lose two answers of three", loses: true},
	{title: "payments refuse connections", on: "payments", fault: always(middleware.FaultRefused)},
	{title: "search is a black hole", on: "search", fault: always(middleware.FaultBlackHole)},
	{title: "search is slow, and a crowd comes", on: "search", fault: late(120 * time.Millisecond), crowd: 5},
	{title: "all is well again"},
}

func always(kind middleware.FaultKind) []middleware.Fault {
	return []middleware.Fault{{Name: "script", Kind: kind, Share: 1}}
}

func late(by time.Duration) []middleware.Fault {
	all := always(middleware.FaultLatency)
	all[0].Latency.Mean = by
	return all
}

// faults are what is wrong on purpose with the calls to one service: by the
// script, and by the policy file.
type faults struct {
	injector *chaos.Injector

	mu             sync.Mutex
	script, policy []middleware.Fault
}

func newFaults(target middleware.Target, observer backstay.Observer) (*faults, error) {
	injector, err := chaos.New(target.Faults,
		chaos.WithScope(&backstay.Scope{Policy: target.Name, Observer: observer}), chaos.WithError(asStatus))
	return &faults{injector: injector, policy: target.Faults}, err
}

// play puts the faults of the script in the place of those before.
func (f *faults) play(all []middleware.Fault) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = all
	return f.injector.Set(slices.Concat(f.script, f.policy))
}

// Apply does the same with those of the policy file.
func (f *faults) Apply(target middleware.Target) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.policy = target.Faults
	return f.injector.Set(slices.Concat(f.script, f.policy))
}

// unary is the innermost interceptor of a connection.
func (f *faults) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	md, _ := metadata.FromOutgoingContext(ctx)
	host := (&grpcmw.Request{Target: cc.Target()}).Host() // payments.shop of passthrough:///payments.shop
	_, err := chaos.Do(ctx, f.injector, chaos.Request{Host: host, Path: method, Header: md},
		func(ctx context.Context) (struct{}, error) {
			return struct{}{}, invoke(ctx, method, req, reply, cc, options...)
		})
	return err
}

// asStatus makes of the error of a network what gRPC makes of it.
func asStatus(e *chaos.InjectedError) error {
	if errors.Is(e, context.DeadlineExceeded) {
		return status.Error(codes.DeadlineExceeded, e.Error())
	}
	return status.Error(codes.Unavailable, e.Error())
}
