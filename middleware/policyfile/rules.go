package policyfile

import (
	"math"
	"strings"
	"time"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

const (
	ns, ms, second, minute, hour, day = time.Nanosecond, time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour

	ever     = time.Duration(math.MaxInt64) // as long as one likes
	many     = math.MaxInt32                // as many as one likes
	required = "required"                   // in place of a default: there is none
	none     = "none"                       // in place of a default: nothing

	any1 = float64(ns) // the Config value for a 0 that means "the least there is"
)

// rules says of every value of a [middleware.Target] what a file may write for
// it. Sections without a row follow from the type.
var rules = map[string]rule{
	"idempotent": yesNo("States of all calls that they may be made twice, in any order: they are repeated, and where there is hedging copied, whatever their method."),

	"fallback":                       {about: "An answer in place of a failure; the ladder itself is code."},
	"fallback.fail_closed":           yesNo("The call must refuse rather than degrade: a ladder on it is a fault."),
	"fallback.drill_share":           part("0%", "Share of calls that take the ladder on purpose.").zeroIs(0),
	"fallback.cache":                 {about: "Bounds what a cached rung keeps and how it is refreshed."},
	"fallback.cache.max_entries":     whole(1, many, "1000", "How many keys are kept."),
	"fallback.cache.max_age":         span(ns, ever, "5m", "How old a value may be and still be served."),
	"fallback.cache.refresh_timeout": span(ns, ever, "10s", "Bounds one background refresh."),
	"fallback.cache.refresh_every":   span(ns, ever, "1s", "Least time between two refreshes of a key.").zeroIs(any1),
	"fallback.cache.max_refreshes":   whole(1, many, "8", "How many refreshes run at once, over all keys."),

	"deadline":         {about: "Bounds the whole call, and passes the bound on."},
	"deadline.total":   span(ns, ever, "10s", "Bounds all attempts, the waits between them, and the reading of the answer.").orOff(float64(deadline.NoTotal)),
	"deadline.reserve": span(0, ever, "0s", "Taken off the caller's deadline, to leave time for the way back."),
	"deadline.need":    span(0, ever, "0s", "Least time in which the call can succeed; with less left it is refused at once."),

	"idempotency":          {about: "Idempotency keys of outgoing calls."},
	"idempotency.generate": yesNo("Makes a key for calls that have none: the target must honor keys, and a POST may then be sent twice."),
	"idempotency.header":   word("Idempotency-Key", "The header that carries the key."),
	"idempotency.bare":     yesNo("Sends the key without quotes."),

	"retry":                  {about: "Makes further attempts at what failed and may be repeated."},
	"retry.max_attempts":     whole(1, 100, "3", "How many attempts a call makes at most, the first one included."),
	"retry.base":             span(ns, ever, "100ms", "Bounds the first wait, which is uniform between 0 and base.").zeroIs(float64(retry.NoWait)).orOff(float64(retry.NoWait)),
	"retry.cap":              span(ns, ever, "2s", "Bounds every wait of our own."),
	"retry.multiplier":       factor(1, 1000, "2", "What the bound of the wait grows by from wait to wait."),
	"retry.max_server_wait":  span(ns, ever, "30s", "Bounds a wait that a server asks for; a longer one ends the call.").zeroIs(float64(retry.NoWait)).orOff(float64(retry.NoWait)),
	"retry.min_attempt_time": span(ns, ever, "10ms", "What must be left of the deadline after a wait.").zeroIs(any1),
	"retry.retry_nested":     yesNo("Retries also where a layer above retries already."),
	"retry.budget":           {about: "Bounds the retries of all calls together."},
	"retry.budget.ratio":     {kind: share, low: 0.001, high: 1, standard: "10%", about: "Share of a retry that every call earns."},
	"retry.budget.window":    span(ms, ever, "10s", "How long what a call earned can be spent."),
	"retry.budget.burst":     whole(1, 1_000_000, "3", "Retries that need not be earned.").zeroIs(retry.NoBurst).orOff(retry.NoBurst),

	"hedge":              {about: "Sends a second copy of a slow read."},
	"hedge.delay":        span(ns, hour, "live", "How long a copy may run before the next one is sent; live is the percentile of recent successes.").orNamed("live", 0),
	"hedge.percentile":   {kind: share, above: true, high: 1, below: true, standard: "95%", about: "Share of recent successes that are quicker than the live delay."},
	"hedge.min_samples":  whole(1, 1_000_000, "100", "How many successes the percentile needs."),
	"hedge.floor":        span(ns, hour, "5ms", "The shortest live delay."),
	"hedge.ceiling":      span(ns, hour, "1s", "The percentile at which hedging ends."),
	"hedge.max_copies":   whole(1, 10, "1", "How many copies may follow the first."),
	"hedge.budget":       {about: "Bounds the copies of all calls together."},
	"hedge.budget.ratio": part("5%", "How many copies each call pays for."),
	"hedge.budget.burst": whole(1, 10_000, "10", "How many copies can be saved up."),

	"breaker":               {about: "Stops calling what is down, and finds it again."},
	"breaker.window":        whole(1, 10_000, "20", "How many of the last calls are judged; off beside time_window.").orOff(0),
	"breaker.time_window":   span(ms, hour, off, "Judges the calls of this stretch of time instead.").orOff(0),
	"breaker.buckets":       whole(1, 100, "10", "In how many steps a time_window moves on; off without one.").orOff(0),
	"breaker.failure_ratio": part("50%", "Share of failures at which the breaker opens.").orOff(breaker.NoFailureRatio),
	"breaker.min_calls":     whole(1, 10_000, "10", "How many calls the window must hold before a ratio is judged."),
	"breaker.consecutive":   whole(1, 10_000, off, "Failures in a row at which the breaker opens.").orOff(0),
	"breaker.slow_after":    span(ns, day, "auto", "The time after which a call is slow; auto is half the attempt timeout.").orNamed("auto", 0),
	"breaker.slow_ratio":    part(off, "Share of slow calls at which the breaker opens.").orOff(0),
	"breaker.open_for":      span(ms, day, "5s", "How long the breaker stays open; doubles with every opening whose probes fail."),
	"breaker.max_open_for":  span(ms, day, "1m", "Bounds the doubling."),
	"breaker.probes":        whole(1, 1000, "1", "How many calls are let through to try, and must succeed."),
	"breaker.probe_lease":   span(ms, day, "30s", "The time after which a probe that did not come back gives its place to another."),

	"bulkhead":                            {about: "Bounds the attempts that run at once."},
	"bulkhead.limit":                      whole(1, 1<<48, "64", "How much may be in flight at once.").orOff(bulkhead.Unlimited),
	"bulkhead.max_queue":                  whole(0, 1<<30, "0", "How many calls may wait for a permit."),
	"bulkhead.max_wait":                   span(ns, day, off, "The longest wait in the queue; off is until the caller's deadline.").orOff(0),
	"bulkhead.hold_body":                  yesNo("Keeps the permit until the answer's body is closed."),
	"bulkhead.weighted":                   yesNo("Asks the context for a call's weight."),
	"bulkhead.priorities":                 {about: "Sheds calls of a lower priority first."},
	"bulkhead.priorities.default_share":   part("90%", "Share of the limit for default and sheddable calls together."),
	"bulkhead.priorities.sheddable_share": part("70%", "Share of the limit up to which sheddable calls are admitted."),
	"bulkhead.adaptive":                   {about: "Lets the limit follow the backend."},
	"bulkhead.adaptive.algorithm":         word(bulkhead.Gradient, "Compares latencies, or looks at congestion only.", bulkhead.Gradient, bulkhead.AIMD),
	"bulkhead.adaptive.min":               whole(1, 1<<48, "4", "Floor of the limit."),
	"bulkhead.adaptive.max":               whole(1, 1<<48, "1024", "Ceiling of the limit."),
	"bulkhead.adaptive.window":            span(ms, minute, "100ms", "Least time between two changes."),
	"bulkhead.adaptive.tolerance":         factor(1, 100, "1.5", "How many times the latency of an idle backend is still good."),
	"bulkhead.adaptive.remeasure":         span(second, day, "30s", "How often the latency of an idle backend is measured afresh."),
	"bulkhead.adaptive.decrease":          {kind: number, above: true, high: 1, below: true, standard: "0.7", about: "What the limit is multiplied with on congestion."},
	"bulkhead.rate":                       {about: "Bounds how many calls start per second."},
	"bulkhead.rate.per_second":            factor(1e-6, 1e9, required, "The steady rate."),
	"bulkhead.rate.burst":                 whole(1, 1e9, "one second's worth", "How many calls may start at once after a pause."),

	"timeout":         {about: "Bounds one attempt. A duration in its place is its after.", short: "after"},
	"timeout.after":   span(ns, ever, "2s", "From the moment an attempt is sent to the headers or the reply.").orOff(float64(timeout.Off)),
	"timeout.abandon": yesNo("Returns at the limit even if the callee ignores its cancellation."),

	"propagate":        {about: "Says who is told how long the caller still waits, and which attempt this is."},
	"propagate.hosts":  words(none, `The hosts that are told; one without a port fits every port, and "*" every host.`),
	"propagate.header": word(deadline.DefaultHeader, "The header that carries the deadline.", deadline.CodecNames()...),

	"http":              {about: "What only HTTP needs."},
	"http.replay_limit": octets(1, 1<<30, "64KiB", "How much of a request's body is remembered for another attempt.").zeroIs(middleware.NoReplay).orOff(middleware.NoReplay),
	"http.idle_body":    span(ns, ever, off, "Ends a response whose body is silent for so long.").orOff(0),
	"http.drain_limit":  octets(1, 1<<40, "512KiB", "How much is read of a response that nobody will see, to save its connection."),
	"http.drain_time":   span(ns, ever, "50ms", "How long that may take."),
	"http.wait_headers": words(none, "Further headers in which this server names a wait in milliseconds."),

	"keys":            {about: "Bounds the keys (hosts) that have state of their own."},
	"keys.max":        whole(1, many, "10000", "How many keys there may be."),
	"keys.idle_after": span(ns, ever, "10m", "How long a key must be unused before it may be given up."),

	"faults": {kind: faultList, standard: none, about: "Faults that package chaos puts into the calls on purpose."},
}

// faultRules are those of one fault of a target.
var faultRules = map[string]rule{
	"name":                 word(required, "What the fault is called in errors, events and reports."),
	"kind":                 word(required, "What happens to the calls.", kinds()...),
	"share":                part(required, "Share of the calls that match which have the fault."),
	"match":                {about: "Which of the target's calls may have the fault; all without it."},
	"match.host":           word("any", "The host that is called; *.example.com are all below it."),
	"match.method":         words("any", "The HTTP methods."),
	"match.route":          word("any", "The path, such as /v1/charges/{id}, or a gRPC method, /service/method."),
	"match.header":         word("any", "The name of a header that the request must have."),
	"match.value":          word("any", "The value of that header."),
	"from":                 {kind: moment, standard: "at once", about: "When the fault begins."},
	"until":                {kind: moment, standard: required, about: "When the fault ends. No fault of a file is for ever."},
	"latency":              {about: "How long the call is held up before anything else."},
	"latency.distribution": word(middleware.LatencyFixed, "How the latency is spread.", middleware.LatencyFixed, middleware.LatencyUniform, middleware.LatencyNormal, middleware.LatencyExponential),
	"latency.mean":         span(ns, middleware.MaxFaultLatency, none, "The latency, or its mean."),
	"latency.deviation":    span(ns, middleware.MaxFaultLatency, none, "The standard deviation of a normal latency."),
	"latency.min":          span(0, middleware.MaxFaultLatency, "0s", "The least latency."),
	"latency.max":          span(ns, middleware.MaxFaultLatency, "auto", "The greatest latency; auto is ten times the mean.").orNamed("auto", 0),
	"message":              word(none, "The text of an error."),
	"status":               whole(200, 599, none, "The status of an answer."),
	"headers":              {kind: pairs, standard: none, about: "The headers of an answer."},
	"body":                 word(none, "The body of an answer."),
	"after":                octets(0, 1<<40, "0", "How much of the answer's body comes through before it is truncated or stalls."),
}

func kinds() []string {
	var all []string
	for _, k := range middleware.FaultKinds() {
		all = append(all, string(k))
	}
	return all
}

// serverRules are those of the server, which has some policies in common with
// targets.
var serverRules = withBulkhead(map[string]rule{
	"name":             word("server", "What the server is called in errors, events and metrics."),
	"deadline":         {about: "Takes up how long callers wait, and bounds every request that is no stream."},
	"deadline.cap":     span(ns, ever, "1m", "Bounds every request, whatever its caller says.").orOff(float64(deadline.NoCap)),
	"deadline.minimum": span(0, ever, "0s", "The least time in which a handler can succeed; with less left a request is refused."),
	"deadline.headers": words(deadline.DefaultHeader, "The headers that are read.", deadline.CodecNames()...),
	"timeout":          span(ns, ever, off, "Answers in place of a handler that has not begun its answer so long after it began to work.").orOff(0),
	"priority_header":  word(none, "The header in which callers say how important their request is: critical, default or sheddable."),
	"key_header":       word("Idempotency-Key", "The header that carries the idempotency key."),
	"retry_nested":     yesNo("Lets handlers retry downstream also for requests that are retries themselves."),

	"idempotency":             {about: "Does the work of requests that carry a key once; the store is an option in code."},
	"idempotency.required":    yesNo("Refuses requests without a key."),
	"idempotency.lease":       span(10*ms, day, "30s", "How long a key stays in flight after its owner was killed."),
	"idempotency.retention":   span(ms, 10*365*day, "24h", "How long an answer is kept."),
	"idempotency.max_wait":    span(ms, day, writeDuration(idempotency.DefaultMaxWait), "How long a repetition waits for the answer of the first.").orOff(float64(idempotency.NoWait)),
	"idempotency.retry_after": span(ms, hour, "1s", "What a repetition is told that does not wait."),
	"idempotency.grace":       span(ms, day, writeDuration(idempotency.DefaultGrace), "How long work may go on after its caller has given up; by default no longer than timeout and deadline.cap.").orOff(float64(idempotency.NoGrace)),
	"idempotency.poll":        span(ms, minute, writeDuration(idempotency.DefaultPoll), "The longest pause between two looks at the store."),
	"idempotency.max_body":    octets(1, 1<<30, writeSize(idempotency.DefaultMaxBody), "The largest request that is read."),
	"idempotency.max_answer":  octets(1, 1<<30, writeSize(idempotency.DefaultMaxAnswer), "The largest answer that is kept."),
})

// withBulkhead adds the rules of the bulkhead, which servers and targets share.
func withBulkhead(own map[string]rule) map[string]rule {
	for path, r := range rules {
		if path == "bulkhead" || strings.HasPrefix(path, "bulkhead.") {
			own[path] = r
		}
	}
	return own
}
