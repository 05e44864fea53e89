package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
	"github.com/backstay-go/backstay/middleware/grpcmw"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// well is a network on which all is well.
type well struct{}

func (well) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

// routed is a client by docs/chaos.md: each target has its own faults, and they
// follow the file.
func routed(live *policyfile.Live, observer backstay.Observer) (*httpmw.Router, error) {
	return httpmw.NewRouter(well{}, live, httpmw.WithObserver(observer), httpmw.WithBase(
		func(target middleware.Target, next http.RoundTripper) http.RoundTripper {
			if target.Name == middleware.Unmatched {
				return next // is in no file, and has no faults
			}
			faults, err := chaos.New(target.Faults, chaos.WithScope(&backstay.Scope{Policy: target.Name, Observer: observer}))
			if err != nil {
				return next // never with the faults of a file, which has been checked
			}
			live.Bind(target.Name, faults) // the Router has the policies follow by itself
			return chaos.NewTransport(next, faults)
		}))
}

// routedRPCs is the same for gRPC.
func routedRPCs(live *policyfile.Live, observer backstay.Observer) (*grpcmw.Router, error) {
	return grpcmw.NewRouter(live, grpcmw.WithObserver(observer), grpcmw.WithInner(
		func(target middleware.Target) grpcmw.Inner {
			if target.Name == middleware.Unmatched {
				return grpcmw.Inner{}
			}
			wrong, err := newFaults(target, observer)
			if err != nil {
				return grpcmw.Inner{}
			}
			live.Bind(target.Name, wrong)
			return grpcmw.Inner{Unary: wrong.unary}
		}))
}

func TestADrillIsBegunAndEndedByTheFile(t *testing.T) {
	const target = "  %s: {extends: none, match: {host: %[1]s.test}, faults: [%s]}\n"
	drill := "{name: drill, kind: refused, share: 100%, until: " + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + "}"
	path := filepath.Join(t.TempDir(), "policies.yaml")
	write := func(faultsOfB string) {
		t.Helper()
		text := "targets:\n" + fmt.Sprintf(target, "a", "") + fmt.Sprintf(target, "b", faultsOfB)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	live, err := policyfile.Watch(t.Context(), path, policyfile.WithSignals())
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	router, err := routed(live, nil)
	if err != nil {
		t.Fatal(err)
	}
	rpcs, err := routedRPCs(live, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, faults := range []string{"", drill, ""} {
		write(faults)
		if err := live.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for host, faulty := range map[string]bool{"a": false, "b": faults != "", "elsewhere": false} {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+".test/", http.NoBody)
			resp, err := router.RoundTrip(req)
			if err == nil {
				resp.Body.Close()
			}
			if (err != nil) != faulty {
				t.Errorf("%s with the faults [%s]: %v", host, faults, err)
			}
			if err := call(t, rpcs, host); (err != nil) != faulty {
				t.Errorf("an RPC to %s with the faults [%s]: %v", host, faults, err)
			}
		}
	}
}

// call makes an RPC to host that would succeed.
func call(t *testing.T, rpcs *grpcmw.Router, host string) error {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+host+".test", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return rpcs.Unary(t.Context(), "/a.A/Get", nil, nil, conn,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
}
