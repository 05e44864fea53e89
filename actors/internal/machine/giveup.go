package machine

import (
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Codes of the failures that the machine makes.
const (
	CodeExpired   = "expired"
	CodeCancelled = "cancelled"
	CodeRefused   = "mailbox_full"
	CodePoison    = "poison"
)

// giveUp ends what nobody will run any more. Its caller gets the failure; a
// poison, and a tell, leave a dead letter if a topic for them is given.
func (c *change) giveUp(e *Entry, o record.Outcome, f *record.Failure, dead string) {
	if f == nil {
		f = failure(e, o)
	}
	c.depart(e, o)
	if dead != "" && (o == record.Poison || e.Return.Tell()) {
		c.put(record.Dest{Topic: dead}, &record.Letter{Key: e.Target.Actor, Dead: &record.Dead{
			Reason: f.Code, Request: e.Request, Queued: e.Queued, At: c.clock, Attempts: e.Tries, Message: f.Message,
		}})
	}
	c.respond(&e.Request, &record.Result{Failure: f})
}

func failure(e *Entry, o record.Outcome) *record.Failure {
	switch o {
	case record.Cancelled:
		return &record.Failure{Code: CodeCancelled, Message: "its caller is gone"}
	case record.Refused:
		return &record.Failure{Code: CodeRefused, Message: "the actor's mailbox is full"}
	case record.Poison:
		return &record.Failure{Code: CodePoison, Message: fmt.Sprintf("given up after %d attempts", e.Tries)}
	default:
		return &record.Failure{Code: CodeExpired, Message: "its deadline passed before it began"}
	}
}
