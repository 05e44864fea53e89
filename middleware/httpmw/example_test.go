package httpmw_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// A server whose callers say how long they wait, and send keys with what must
// not be done twice.
func ExampleNewHandler() {
	mux := http.NewServeMux()
	charges := 0
	mux.HandleFunc("POST /charge", func(w http.ResponseWriter, _ *http.Request) {
		charges++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "charge %d", charges)
	})

	store, err := idempotency.NewMemory(idempotency.MemoryConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	config := middleware.StandardServer("bank")
	config.Idempotency = &idempotency.GuardConfig{Required: true}
	handler, err := httpmw.NewHandler(mux, config, httpmw.ServerStore(store))
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, header := range []string{"Idempotency-Key: order-42", "Idempotency-Key: order-42", "X-Backstay-Timeout-Ms: 0", "Accept: */*"} {
		req := httptest.NewRequest(http.MethodPost, "/charge", strings.NewReader("25 EUR"))
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, req)
		fmt.Println(answer.Code, answer.Header().Get("Idempotent-Replayed"), answer.Body)
	}
	// Output:
	// 201  charge 1
	// 201 true charge 1
	// 504  {"title":"Gateway Timeout","status":504,"detail":"There is not enough time left.","reason":"too_late"}
	// 400  {"title":"Bad Request","status":400,"detail":"A key is required: send one, the same on every repetition.","reason":"key_missing"}
}
