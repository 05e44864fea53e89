// Sdk puts Backstay under an SDK that takes an HTTP client, as those of clouds
// do. Such an SDK retries by itself; with Backstay below there are two layers
// that do, and they multiply. One of them has to go: the SDK's, which has
// neither a budget nor a breaker that all its calls share.
//
//	go run ./examples/sdk
//
// What is to be copied is client.go. Package bucket stands for the SDK.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/examples/sdk/bucket"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
		os.Exit(1)
	}
}

// stage is where the scenes play.
type stage struct {
	service *service
	url     string
	network *http.Transport
	out     io.Writer
}

// tell plays the scenes.
func tell(ctx context.Context, out io.Writer) error {
	s := &stage{service: new(service), network: new(http.Transport), out: out}
	server := httptest.NewServer(s.service)
	defer server.Close()
	defer s.network.CloseIdleConnections()
	s.url = server.URL
	return errors.Join(s.outage(ctx), s.throttling(ctx), s.reading(ctx))
}

// outage makes 20 calls of a service that is down, on each kind of client.
func (s *stage) outage(ctx context.Context) error {
	fmt.Fprintln(s.out, "1. The service is down: 20 calls")
	s.service.down.Store(true)
	defer s.service.down.Store(false)
	s.count(ctx, "the SDK alone", s.alone())

	careless, stop, err := s.twice()
	if err != nil {
		return err
	}
	s.count(ctx, "two layers that retry", careless)
	if err := stop(ctx); err != nil {
		return err
	}
	client, transport, err := newClient(s.url, s.network, target())
	if err != nil {
		return err
	}
	s.count(ctx, "Backstay's layer alone", client)
	return transport.Close(ctx)
}

// alone is the SDK as it comes.
func (s *stage) alone() *bucket.Client {
	return bucket.New(bucket.Options{Endpoint: s.url, HTTPClient: &http.Client{Transport: s.network}})
}

// twice is the SDK as it comes over a transport that retries without a budget,
// which is what most do.
func (s *stage) twice() (*bucket.Client, func(context.Context) error, error) {
	transport, err := httpmw.NewTransport(s.network, middleware.Target{Name: "bucket", Config: middleware.Config{
		Retry: &retry.Config{Base: retry.NoWait, Budget: retry.NoBudget},
	}})
	if err != nil {
		return nil, nil, err
	}
	client := bucket.New(bucket.Options{Endpoint: s.url, HTTPClient: &http.Client{Transport: transport}})
	return client, transport.Close, nil
}

// target is the usual one, with waits that are short enough for a story.
func target() middleware.Target {
	t := middleware.Standard("bucket")
	t.Retry = &retry.Config{Base: retry.NoWait}
	return t
}

func (s *stage) count(ctx context.Context, who string, client *bucket.Client) {
	s.service.requests.Store(0)
	for range 20 {
		_, _ = client.Get(ctx, "photo") // it fails, in all ways
	}
	fmt.Fprintf(s.out, "   %-24s %3d requests\n", who+":", s.service.requests.Load())
}

// throttling has the service answer 400 twice and mean that it is busy.
func (s *stage) throttling(ctx context.Context) error {
	fmt.Fprintln(s.out, "2. The service throttles, by a 400 that means 429")
	client, transport, err := newClient(s.url, s.network, target())
	if err != nil {
		return err
	}
	s.service.throttles.Store(2)
	ctx, report := backstay.WithReport(ctx)
	err = client.Put(ctx, "photo", []byte("a photo"))
	fmt.Fprintf(s.out, "   put: %s; %s\n", outcome(err), report)
	return transport.Close(context.WithoutCancel(ctx))
}

// outcome says how a call ended.
func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "done"
}

// reading has a POST that only reads repeated, because its caller says so.
func (s *stage) reading(ctx context.Context) error {
	fmt.Fprintln(s.out, "3. A query is a POST, which nobody repeats unless told that it only reads")
	client, transport, err := newClient(s.url, s.network, target())
	if err != nil {
		return err
	}
	for _, mark := range []struct {
		as string
		of func(context.Context) context.Context
	}{
		{"as it is", func(ctx context.Context) context.Context { return ctx }},
		{"with retry.MarkRepeatable", retry.MarkRepeatable},
	} {
		s.service.throttles.Store(1)
		ctx, report := backstay.WithReport(mark.of(ctx))
		_, err := client.Query(ctx, "what is new")
		fmt.Fprintf(s.out, "   %s: %s; %s\n", mark.as, outcome(err), report)
		s.service.throttles.Store(0)
	}
	return transport.Close(ctx)
}
