package grpcmw_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/retry"
)

// byMethod is a set of targets by the methods that they are for.
type byMethod map[string]*middleware.Target

func (s byMethod) Match(q middleware.Request) *middleware.Target { return s[q.GRPC] }

func (s byMethod) All(f func(*middleware.Target) bool) {
	for _, t := range s {
		if !f(t) {
			return
		}
	}
}

// attempting is an idempotent target that makes n attempts.
func attempting(name string, n int) *middleware.Target {
	t := middleware.Standard(name)
	t.Idempotent, t.Breaker = true, nil
	t.Retry = &retry.Config{MaxAttempts: n, Base: retry.NoWait, Budget: retry.BudgetConfig{Off: true}}
	return &t
}

// sent says how many attempts a call of method makes that is always down.
func sent(r *grpcmw.Router, method string) (n int, err error) {
	err = r.Unary(context.Background(), method, new(text), new(text), nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			n++
			return status.Error(codes.Unavailable, "down")
		})
	return n, err
}

func TestARouterSendsThroughTheTargetOfTheMethod(t *testing.T) {
	set := byMethod{"/a.A/Get": attempting("a", 2), "/b.B/Get": attempting("b", 4)}
	r, err := grpcmw.NewRouter(set)
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]int{"/a.A/Get": 2, "/b.B/Get": 4, "/c.C/Get": 1} {
		if n, err := sent(r, method); n != want || status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %d attempts, want %d: %v", method, n, want, err)
		}
	}
	set["/a.A/Get"], set["/d.D/Get"] = attempting("a", 3), attempting("d", 5)
	for method, want := range map[string]int{"/a.A/Get": 3, "/d.D/Get": 5} {
		if n, _ := sent(r, method); n != want {
			t.Errorf("after a change %s: %d attempts, want %d", method, n, want)
		}
	}
	set["/e.E/Get"] = attempting("e", -1)
	n, err := sent(r, "/e.E/Get")
	if _, ok := status.FromError(err); n != 0 || !ok || !errors.Is(err, backstay.ErrRejected) {
		t.Errorf("a target that cannot be built: %d attempts, %v", n, err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := sent(r, "/a.A/Get"); !errors.Is(err, middleware.ErrClosed) {
		t.Errorf("a closed router: %v", err)
	}
}

func TestAllFaultsOfARoutersTargetsAreTold(t *testing.T) {
	_, err := grpcmw.NewRouter(byMethod{"/a.A/Get": attempting("a", -7), "/b.B/Get": attempting("b", -8)})
	if err == nil || !strings.Contains(err.Error(), "-7") || !strings.Contains(err.Error(), "-8") {
		t.Errorf("got %v", err)
	}
}

func TestDialOptionsAreThoseOfAClient(t *testing.T) {
	options, err := grpcmw.DialOptions(middleware.Standard("a"))
	if err != nil || len(options) != 3 {
		t.Errorf("%d options, %v", len(options), err)
	}
	why := errors.New("there is no target b")
	if _, err := grpcmw.DialOptions(middleware.Unbuildable("b", why)); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestARouterServesConnections(t *testing.T) {
	e := &echo{say: func(context.Context, *text) (*text, error) { return &text{Value: "hello"}, nil }}
	listener := e.serve(t)
	r, err := grpcmw.NewRouter(byMethod{say: attempting("a", 2)})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:///echo", append(r.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got := new(text)
	if err := conn.Invoke(t.Context(), say, new(text), got); err != nil || got.GetValue() != "hello" {
		t.Errorf("%v, %v", got, err)
	}
	for name, c := range r.All {
		if n := c.Pipelines().Len(); n != map[string]int{"a": 1}[name] {
			t.Errorf("%s has %d pipelines", name, n)
		}
	}
}

func TestTheRegistriesOfARouterAreThoseOfItsClients(t *testing.T) {
	router, err := grpcmw.NewRouter(byMethod{"/a/B": attempting("a", 1)})
	if err != nil {
		t.Fatal(err)
	}
	got := maps.Collect(router.Registries)
	for name, c := range router.All {
		if got[name] != c.Pipelines() {
			t.Errorf("%s is another one", name)
		}
	}
	if len(got) != 2 || got["a"] == nil {
		t.Errorf("got %v", got)
	}
}
