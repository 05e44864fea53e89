package main

import (
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/examples/sdk/bucket"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// newClient returns a client of the SDK with one layer of retries: that of
// Backstay, which has a budget and a breaker. The SDK's own is switched off.
//
// For the AWS SDK for Go v2 the two lines are
//
//	config.WithHTTPClient(&http.Client{Transport: transport}),
//	config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
//
// The SDK signs above the Transport, once a call: further attempts carry the
// signature of the first, which is good for minutes, where a call lasts
// seconds.
func newClient(endpoint string, base http.RoundTripper, target middleware.Target) (*bucket.Client, *httpmw.Transport, error) {
	transport, err := httpmw.NewTransport(base, target, httpmw.WithClassifier(throttled))
	if err != nil {
		return nil, nil, err
	}
	return bucket.New(bucket.Options{
		Endpoint:   endpoint,
		HTTPClient: &http.Client{Transport: transport},
		Retryer:    bucket.Nop{},
	}), transport, nil
}

// throttled knows what the status alone does not tell: a 400 of this service
// may mean that it has too much to do, and another attempt is worth it.
func throttled(resp *http.Response, _ error, o backstay.Outcome) backstay.Outcome {
	if resp != nil && resp.Header.Get("X-Bucket-Error") == bucket.Throttled {
		return backstay.Outcome{Class: backstay.Overload}
	}
	return o
}
