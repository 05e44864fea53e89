package bench

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/cristalhq/hedgedhttp"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// BenchmarkRoundTripper compares the whole stack as an http.RoundTripper over
// a transport that answers from memory. go-retryablehttp only retries, and
// hedgedhttp only hedges.
func BenchmarkRoundTripper(b *testing.B) {
	compare(b, "timer", succeeds, overTransport(memory{}, transports()...)...)
	compare(b, "timer-watched", succeeds, overTransport(memory{watches: true}, transports()...)...)
	within(b, "bounded", succeeds, overTransport(memory{}, transports()...)...)
	within(b, "bounded-header", succeeds, overTransport(memory{}, bareTransport(), backstayTransport("*"))...)
	compareParallel(b, "timer-parallel", succeeds, overTransport(memory{}, transports()...)...)
}

// layered is a library's way to wrap a transport.
type layered struct {
	name string
	wrap func(http.RoundTripper) http.RoundTripper
}

func transports() []layered {
	return []layered{
		bareTransport(),
		backstayTransport(),
		failsafeTransport(),
		retryableTransport(),
		hedgedTransport(),
	}
}

// memory is a transport that answers without a network, and so at once. Where
// it watches, it waits on the request's context first, as a transport with a
// network does.
type memory struct{ watches bool }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.watches {
		if _, err := watching(r.Context()); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: emptyHeader, Body: emptyBody{}, Request: r,
	}, nil
}

var emptyHeader = http.Header{}

// emptyBody is not http.NoBody, which a library may know to be complete.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

func overTransport(t http.RoundTripper, all ...layered) []library {
	libraries := make([]library, len(all))
	for i, l := range all {
		libraries[i] = library{name: l.name, call: getting("http://backend.test/item", l.wrap(t))}
	}
	return libraries
}

// getting returns a call that sends a request, reads the answer and closes it.
// The request is made once for each context, so that what it costs is not
// measured; calls in parallel have the background's.
func getting(url string, t http.RoundTripper) func(context.Context) error {
	r := must(http.NewRequest(http.MethodGet, url, http.NoBody))
	return func(ctx context.Context) error {
		if r.Context() != ctx {
			r = r.WithContext(ctx)
		}
		resp, err := t.RoundTrip(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
}

func bareTransport() layered {
	return layered{"bare", func(t http.RoundTripper) http.RoundTripper { return t }}
}

// backstayTransport tells the named hosts of the deadline.
func backstayTransport(told ...string) layered {
	return layered{"backstay", func(t http.RoundTripper) http.RoundTripper {
		target := backstayTarget(true)
		target.Propagate = middleware.Propagation{Hosts: told}
		return must(httpmw.NewTransport(t, target))
	}}
}

func failsafeTransport() layered {
	return layered{"failsafe-go", func(t http.RoundTripper) http.RoundTripper {
		retry := failsafeRetryOf(failsafehttp.NewRetryPolicyBuilder(), true)
		return failsafehttp.NewRoundTripperWithExecutor(t, failsafe.With(failsafePolicies(retry)...))
	}}
}

func retryableTransport() layered {
	return layered{"go-retryablehttp", func(t http.RoundTripper) http.RoundTripper {
		c := retryablehttp.NewClient()
		c.HTTPClient = &http.Client{Transport: t}
		c.Logger = nil
		c.RetryMax = attempts - 1
		return &retryablehttp.RoundTripper{Client: c}
	}}
}

func hedgedTransport() layered {
	return layered{"hedgedhttp", func(t http.RoundTripper) http.RoundTripper {
		return must(hedgedhttp.NewRoundTripper(time.Second, 2, t))
	}}
}
