package runtime

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
)

// forGood is the code of an error with which the log refuses something for good,
// empty for all others.
func forGood(err error) string {
	switch {
	case errors.Is(err, journal.ErrTooLarge):
		return CodeTooLarge
	case errors.Is(err, journal.ErrNoType):
		return CodeNoType
	default:
		return ""
	}
}

// giveUp ends an output that the log will never take. Who waits for a call gets
// the failure, in the place of the result if that is what is refused; a tell is
// buried first.
func (s *sender) giveUp(number uint64, why record.Failure) {
	switch m := s.message(number).(type) {
	case *record.Response:
		s.loseResult(number, &m.Result, why)
	case *record.Request:
		if m.Return.Tell() && s.inc.node.config.DeadTopic != "" {
			s.bury(m, number, why)
			return
		}
		s.lose(number, why)
	default:
		s.lose(number, why)
	}
}

// message is the output of a number.
func (s *sender) message(number uint64) record.Message {
	for _, o := range s.inc.state.Waiting(s.dest) {
		if o.Number == number {
			return o.Message
		}
	}
	return nil
}

// loseResult gives up a result. Whoever waits for it gets the failure, if that is what
// can be sent: shorter, to where there is somebody. He must not take it for a
// request that was refused, for the method has run.
func (s *sender) loseResult(number uint64, result *record.Result, why record.Failure) {
	instead := why.Code == CodeTooLarge && !short(result.Failure)
	if instead {
		why.Message = brief("the method has ended, but its result is refused: " + why.Message)
	}
	s.report(number, &why)
	s.undeliver(&record.Undeliverable{Number: number, Failure: why, Instead: instead})
}

// short reports whether a result is a failure that no other would be shorter than.
func short(f *record.Failure) bool {
	return f != nil && len(f.Detail) == 0 && len(f.Message) <= longestDetail
}

// bury gives up a tell when its dead letter is there.
func (s *sender) bury(tell *record.Request, number uint64, why record.Failure) {
	s.burial = &burial{sender: s, number: number, why: why, letter: s.obituary(tell, number, &why)}
	s.inc.bewail(tell, why.Code)
	s.inc.node.lament(s.burial.letter)
	s.burial.try()
}

// obituary is the dead letter of a tell that has never come to its actor. Numbers
// of two destinations may be the same, so it names that as well.
func (s *sender) obituary(r *record.Request, number uint64, why *record.Failure) journal.Message {
	m := journal.Message{Topic: s.inc.node.config.DeadTopic, Key: r.Target.Actor}
	dead(&m, &record.Dead{Reason: why.Code, Request: *r, At: s.inc.now, Message: brief(why.Message)})
	m.Headers = append(m.Headers,
		header(HeaderSource, s.inc.self.String()), header(HeaderDest, s.dest.String()), header(HeaderNumber, strconv.FormatUint(number, 10)))
	return m
}

// lose gives up what nobody hears of otherwise but who made it, if that waits.
func (s *sender) lose(number uint64, why record.Failure) {
	s.report(number, &why)
	s.undeliver(&record.Undeliverable{Number: number, Failure: why})
}

// report tells that an output is given up.
func (s *sender) report(number uint64, why *record.Failure) {
	s.inc.node.report(Event{
		Kind: OutputLost, Partition: s.inc.self, Epoch: s.inc.epoch, Name: s.dest.String(), Code: why.Code,
		Err: fmt.Errorf("runtime: output %d to %v is given up: %s", number, s.dest, why.Message),
	})
}

// undeliver puts on record that an output is given up; those behind it go on then.
func (s *sender) undeliver(r *record.Undeliverable) {
	r.Epoch, r.Dest = s.inc.epoch, s.dest
	s.inc.try(r, nil)
}

// burial publishes the dead letter of a tell, and gives the tell up when it is
// there. It is a part of no record: who dies before leaves the tell to the next
// owner, which is refused as well, and may write the letter once more.
type burial struct {
	sender *sender
	number uint64
	why    record.Failure
	letter journal.Message
}

// try publishes the letter, and again if nobody answers.
func (b *burial) try() {
	inc := b.sender.inc
	b.sender.resumeIn(inc.node.config.Patience.Milliseconds())
	inc.node.publishDead(b.letter, func(_ journal.Place, err error) { inc.post(&burialEnd{b, err}) })
}

// burialEnd is how a try has ended.
type burialEnd struct {
	burial *burial
	err    error
}

func (e *burialEnd) happen(*incarnation) {
	b := e.burial
	s := b.sender
	switch {
	case s.burial != b: // an earlier try has ended it
	case e.err == nil:
		b.end()
		s.undeliver(&record.Undeliverable{Number: b.number, Failure: b.why})
	case forGood(e.err) != "":
		b.end()
		b.why.Message += "; so is its dead letter: " + e.err.Error()
		s.lose(b.number, b.why)
	default:
		s.rest(record.Dest{Topic: b.letter.Topic}, e.err)
	}
}

func (b *burial) end() {
	b.sender.burial, b.sender.failures = nil, 0
	b.sender.inc.agenda.cancel(dueSend, subject{dest: b.sender})
}
