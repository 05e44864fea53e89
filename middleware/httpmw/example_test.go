package httpmw_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
	"github.com/backstay-go/backstay/retry"
)

// A report tells what a call went through.
func ExampleNewTransport() {
	backend := httpmwtest.Script(httpmwtest.Status(503), httpmwtest.Status(200)) // in place of http.DefaultTransport

	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait}
	transport, err := httpmw.NewTransport(backend, target)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}

	ctx, report := backstay.WithReport(context.Background())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://payments.example/", nil)
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode, "-", report)
	// Output: 200 - success after 2 attempts
}

// A refusal is told from a failure by ErrRejected: nothing was sent.
func ExampleTransport_RoundTrip_rejected() {
	transport, err := httpmw.NewTransport(httpmwtest.Script(), middleware.Standard("payments"))
	if err != nil {
		fmt.Println(err)
		return
	}
	transport.Pipelines().Get("payments.example", backstay.Now()).Breaker().ForceOpen()

	client := &http.Client{Transport: transport}
	_, err = client.Get("http://payments.example/") //nolint:bodyclose,noctx // there is no response
	fmt.Println(errors.Is(err, backstay.ErrRejected))
	// Output: true
}

// With an idempotency key a POST may be repeated: the server sees one key.
func ExampleTransport_RoundTrip_idempotencyKey() {
	backend := httpmwtest.Script(httpmwtest.Reset(), httpmwtest.Status(201))
	target := middleware.Standard("payments")
	target.Retry = &retry.Config{Base: retry.NoWait}
	target.Idempotency = &idempotency.Config{Generate: true} // the server honours keys
	transport, err := httpmw.NewTransport(backend, target)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}
	resp, err := client.Post("http://payments.example/charges", "text/plain", strings.NewReader("25 EUR")) //nolint:noctx // an example
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()

	seen := backend.Requests()
	fmt.Println(resp.StatusCode, "after", len(seen), "attempts, one key:",
		seen[0].Header.Get("Idempotency-Key") == seen[1].Header.Get("Idempotency-Key"))
	// Output: 201 after 2 attempts, one key: true
}
