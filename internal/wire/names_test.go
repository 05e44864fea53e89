package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestHTTPHeadersAreCanonical(t *testing.T) {
	for _, name := range []string{
		wire.HeaderTimeoutMillis, wire.HeaderGRPCTimeout, wire.HeaderConnectTimeoutMillis, wire.HeaderEnvoyTimeoutMillis,
		wire.HeaderRetryAfter, wire.HeaderRetryAfterMillis, wire.HeaderMSRetryAfterMillis, wire.HeaderAmzRetryAfter,
		wire.HeaderRateLimit, wire.HeaderRateLimitPolicy, wire.HeaderIdempotencyKey, wire.HeaderIdempotentReplayed,
		wire.HeaderAttempt, wire.HeaderRetry, wire.HeaderShouldRetry,
		wire.HeaderEnvoyRateLimited, wire.HeaderEnvoyOverloaded, wire.HeaderLinkerdRetryable,
	} {
		if canonical := http.CanonicalHeaderKey(name); canonical != name {
			t.Errorf("%q is not canonical, %q is", name, canonical)
		}
	}
}

func TestTheNamesAreThoseOfTheStandards(t *testing.T) {
	for name, want := range map[string]string{
		wire.HeaderTimeoutMillis:        "x-backstay-timeout-ms",
		wire.HeaderGRPCTimeout:          "grpc-timeout",
		wire.HeaderConnectTimeoutMillis: "connect-timeout-ms",
		wire.HeaderEnvoyTimeoutMillis:   "x-envoy-expected-rq-timeout-ms",
		wire.HeaderRetryAfterMillis:     "retry-after-ms",
		wire.HeaderMSRetryAfterMillis:   "x-ms-retry-after-ms",
		wire.HeaderAmzRetryAfter:        "x-amz-retry-after",
		wire.HeaderRateLimit:            "ratelimit",
		wire.HeaderRateLimitPolicy:      "ratelimit-policy",
		wire.HeaderIdempotencyKey:       "idempotency-key",
		wire.HeaderIdempotentReplayed:   "idempotent-replayed",
		wire.HeaderAttempt:              "x-backstay-attempt",
		wire.HeaderRetry:                "x-backstay-retry",
		wire.HeaderShouldRetry:          "x-should-retry",
		wire.HeaderEnvoyRateLimited:     "x-envoy-ratelimited",
		wire.HeaderEnvoyOverloaded:      "x-envoy-overloaded",
		wire.HeaderLinkerdRetryable:     "l5d-retryable",
		wire.HeaderGRPCPushback:         "grpc-retry-pushback-ms",
		wire.HeaderGRPCPreviousTries:    "grpc-previous-rpc-attempts",
		wire.MessageDeadline:            "backstay-deadline",
		wire.MessageTTL:                 "backstay-ttl",
		wire.MessageID:                  "backstay-id",
		wire.MessageTraceParent:         "traceparent",
		wire.MessageTraceState:          "tracestate",
	} {
		if !strings.EqualFold(name, want) {
			t.Errorf("%q, want %q", name, want)
		}
	}
}
