package wire

// HTTP headers, in the canonical form in which net/http keeps them.
const (
	// HeaderTimeoutMillis carries what is left of the caller's deadline; see
	// [FormatMillis].
	HeaderTimeoutMillis = "X-Backstay-Timeout-Ms"
	// HeaderGRPCTimeout carries the same in gRPC's form; see
	// [FormatGRPCTimeout].
	HeaderGRPCTimeout = "Grpc-Timeout"
	// HeaderConnectTimeoutMillis carries the same in Connect's form, which is
	// that of [FormatMillis].
	HeaderConnectTimeoutMillis = "Connect-Timeout-Ms"
	// HeaderEnvoyTimeoutMillis carries the same in Envoy's form; see
	// [FormatEnvoyMillis].
	HeaderEnvoyTimeoutMillis = "X-Envoy-Expected-Rq-Timeout-Ms"

	// HeaderRetryAfter asks for a wait; see [RetryAfter].
	HeaderRetryAfter = "Retry-After"
	// HeaderRetryAfterMillis and the two below are cousins of Retry-After, in
	// milliseconds; see [Millis].
	HeaderRetryAfterMillis   = "Retry-After-Ms"
	HeaderMSRetryAfterMillis = "X-Ms-Retry-After-Ms"
	HeaderAmzRetryAfter      = "X-Amz-Retry-After"
	// HeaderRateLimit tells what is left of a quota; see [RateLimits].
	HeaderRateLimit = "Ratelimit"
	// HeaderRateLimitPolicy tells the quota itself; see [RateLimitPolicies].
	HeaderRateLimitPolicy = "Ratelimit-Policy"

	// HeaderIdempotencyKey names a request, so that its repetition is known.
	HeaderIdempotencyKey = "Idempotency-Key"
	// HeaderIdempotentReplayed marks an answer that was given before.
	HeaderIdempotentReplayed = "Idempotent-Replayed"

	// HeaderAttempt is the number of the attempt, sent from 2 on; see
	// [Attempt].
	HeaderAttempt = "X-Backstay-Attempt"
	// HeaderRetry, set to [RetryNever], asks that the call not be retried.
	HeaderRetry = "X-Backstay-Retry"
	// RetryNever is the value of HeaderRetry.
	RetryNever = "never"
	// HeaderShouldRetry, set to "false", asks the same.
	HeaderShouldRetry = "X-Should-Retry"
	// HeaderEnvoyRateLimited asks the same by its presence.
	HeaderEnvoyRateLimited = "X-Envoy-Ratelimited"
	// HeaderEnvoyOverloaded says by its presence that an Envoy dropped the
	// request because of overload.
	HeaderEnvoyOverloaded = "X-Envoy-Overloaded"
	// HeaderLinkerdRetryable, set to "true", says that the request never
	// reached the application.
	HeaderLinkerdRetryable = "L5d-Retryable"
)

// gRPC metadata, in the lower case in which it is kept.
const (
	// HeaderGRPCPushback is a trailer that orders a wait; see [Pushback].
	HeaderGRPCPushback = "grpc-retry-pushback-ms"
	// HeaderGRPCPreviousTries is how many attempts came before; see
	// [PreviousTries].
	HeaderGRPCPreviousTries = "grpc-previous-rpc-attempts"
)

// Headers of log records.
const (
	// MessageDeadline is the sender's deadline, in the form of
	// [FormatEpochMillis].
	MessageDeadline = "backstay-deadline"
	// MessageTTL is what was left of it at sending, in the form of
	// [FormatMillis]. Added to the broker's append time it needs no trust in
	// the sender's clock.
	MessageTTL = "backstay-ttl"
	// MessageID names the message, so that its repetition is known.
	MessageID = "backstay-id"
	// MessageTraceParent and MessageTraceState are those of W3C Trace Context.
	MessageTraceParent = "traceparent"
	MessageTraceState  = "tracestate"
)
