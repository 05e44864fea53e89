package otelmw

import (
	"go.opentelemetry.io/otel/metric"

	"github.com/backstay-go/backstay"
)

// actorInstruments are those that the events of actors move.
type actorInstruments struct {
	steps            metric.Int64Counter
	stepDuration     metric.Float64Histogram
	expired          metric.Int64Counter
	full             metric.Int64Counter
	deadLetters      metric.Int64Counter
	takeovers        metric.Int64Counter
	takeoverDuration metric.Float64Histogram
}

func (m *maker) actors() actorInstruments {
	return actorInstruments{
		steps:            m.counter("backstay.actor.steps", "{step}", "Links of chains that have ended with their method, by outcome."),
		stepDuration:     m.seconds("backstay.actor.step.duration", "Time that the attempt that ended a link took."),
		expired:          m.counter("backstay.actor.expired", "{request}", "Requests whose deadline passed before their method began."),
		full:             m.counter("backstay.actor.refused", "{request}", "Requests that a full mailbox refused."),
		deadLetters:      m.counter("backstay.actor.dead_letters", "{letter}", "Letters about requests that were given up, records that cannot be read, and messages that are lost."),
		takeovers:        m.counter("backstay.actor.takeovers", "{takeover}", "Partitions that were taken over."),
		takeoverDuration: m.seconds("backstay.actor.takeover.duration", "Time from the claim of a partition until it was owned: the whole, and its phases."),
	}
}

// counterOf returns what e counts, and with which attributes; nil if nothing.
func (a *actorInstruments) counterOf(e *backstay.Event) (metric.Int64Counter, details) {
	switch e.Kind {
	case backstay.StepDone:
		return a.steps, stepDetails(e)
	case backstay.RequestGivenUp:
		return a.givenUp(e)
	case backstay.DeadLetter:
		return a.deadLetters, actorDetails(e, detail{keyReason, string(e.Reason)})
	case backstay.RecordSkipped:
		return a.deadLetters, actorDetails(e, detail{keyReason, "skipped"})
	case backstay.OutputLost:
		return a.deadLetters, actorDetails(e, detail{keyReason, "lost"})
	case backstay.PartitionOwned:
		return a.takeovers, actorDetails(e)
	default: // what has no metric
		return nil, details{}
	}
}

// givenUp returns what counts a request that ended without its method. What its
// caller cancelled is nobody's trouble; poison always is a dead letter.
func (a *actorInstruments) givenUp(e *backstay.Event) (metric.Int64Counter, details) {
	switch e.Reason {
	case backstay.ReasonExpired:
		return a.expired, actorDetails(e)
	case backstay.ReasonMailboxFull:
		return a.full, actorDetails(e)
	default:
		return nil, details{}
	}
}

// stepDetails are the attributes of a step beside the base.
func stepDetails(e *backstay.Event) details {
	return actorDetails(e, detail{keyOutcome, e.Outcome.Class.String()})
}

// whole is the phase of a takeover that is all of them.
const whole = "whole"

// phaseDetails are the attributes of a takeover's duration beside the base.
func phaseDetails(e *backstay.Event) details {
	phase := string(e.Reason)
	if e.Kind == backstay.PartitionOwned {
		phase = whole
	}
	return actorDetails(e, detail{keyPhase, phase})
}

// actorDetails are the attributes of what happened to actors of a type, which
// is the policy of their events.
func actorDetails(e *backstay.Event, more ...detail) (d details) {
	d[0] = detail{keyActorType, e.Policy}
	copy(d[1:], more)
	return d
}
