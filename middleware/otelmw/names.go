package otelmw

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/backstay-go/backstay/breaker"
)

// scope names the instrumentation to OpenTelemetry.
const scope = "github.com/backstay-go/backstay/middleware/otelmw"

// other stands for the names beyond a limit.
const other = "other"

// The attributes of metrics and spans.
const (
	keyPolicy         attribute.Key = "backstay.policy"
	keyKey            attribute.Key = "backstay.key"
	keyOperation      attribute.Key = "backstay.operation"
	keyOutcome        attribute.Key = "backstay.outcome"
	keyAttemptOutcome attribute.Key = "backstay.attempt.outcome"
	keyReason         attribute.Key = "backstay.reason"
	keyCause          attribute.Key = "backstay.cause"
	keyFrom           attribute.Key = "backstay.from"
	keyTo             attribute.Key = "backstay.to"
	keyState          attribute.Key = "backstay.state"
	keyRung           attribute.Key = "backstay.rung"
	keyCopy           attribute.Key = "backstay.copy"
	keyActorType      attribute.Key = "backstay.actor.type"
	keyPhase          attribute.Key = "backstay.phase"
)

// The attributes of spans alone.
const (
	keyAttempt  attribute.Key = "backstay.attempt"
	keyAttempts attribute.Key = "backstay.attempts"
	keyWait     attribute.Key = "backstay.wait"
	keyError    attribute.Key = "backstay.error"

	keyActorID      attribute.Key = "backstay.actor.id"
	keyActorRequest attribute.Key = "backstay.actor.request"
	keyActorLink    attribute.Key = "backstay.actor.link"
	keyActorEpoch   attribute.Key = "backstay.actor.epoch"
)

// states are those of a breaker: backstay.breaker.state has a series for each.
var states = [...]string{
	breaker.Closed.String(), breaker.Open.String(), breaker.HalfOpen.String(),
	breaker.ForcedOpen.String(), breaker.ForcedClosed.String(), breaker.MetricsOnly.String(),
}

// valid returns s as text. Names and errors may be any bytes, as those of hosts
// and backends; but of one attribute that is not UTF-8, exporters drop all that
// they send together with it, and a scrape fails for good.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
