package runtime

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// closing is the end of a method, on its way to the log.
type closing struct {
	End
	data []byte       // the Step, if it could be made off the loop
	tail *record.Call // room for End's; nil: none yet
}

// TailCall is an empty call, for a tail call that the method's End is: its room
// is used again when the Step is applied. It is for the goroutine that runs the
// method.
func (a *Attempt) TailCall() *record.Call {
	if a.tail == nil {
		a.tail = new(record.Call)
	}
	return a.tail
}

// returned is an attempt whose method has.
type returned Attempt

// finish takes the method's end. It closes the gate first: what a goroutine
// that was left behind still wants comes too late (H13).
func (a *Attempt) finish(end End) {
	c := &a.closing
	c.End = end
	if fault := a.resolve(&c.End); fault != nil {
		c.End = *fault
	}
	a.mu.Lock()
	a.over = true
	if c.Retry != nil || c.Result.Failure != nil { // nothing of it is to be seen (A83)
		a.abandon()
	}
	if c.Retry == nil && len(a.pending) == 0 {
		c.data = a.step(&c.End)
	}
	w := a.worker
	a.mu.Unlock()
	if a.inc.give((*returned)(a)) {
		a.inc.assist(w)
	}
}

// abandon drops what is in the hands of the attempt, calls that were never
// recorded included. mu is held.
func (a *Attempt) abandon() {
	for _, call := range a.buffer.calls {
		for i, p := range a.pending {
			if p.id == call.ID {
				a.pending = slices.Delete(a.pending, i, i+1)
				break
			}
		}
	}
	a.buffer = buffer{}
}

// resolve checks the end, and completes the address of a tail call.
func (a *Attempt) resolve(end *End) *End {
	switch {
	case end.Retry != nil:
		return nil
	case end.Outcome == record.End:
		if end.Tail = nil; a.unwanted(end.Result.Value) {
			end.Result.Value = nil
		}
		return nil
	case end.Outcome != record.TailSelf && end.Outcome != record.TailOther || end.Tail == nil:
		return &End{Retry: &Retry{Reason: fmt.Sprintf("a method must not end with outcome %q and tail %v", end.Outcome, end.Tail)}}
	case end.Outcome == record.TailSelf:
		end.Result = record.Result{}
		return nil
	}
	tail := *end.Tail
	end.Tail, end.Result = &tail, record.Result{}
	if err := a.address(&tail.Target); err != nil {
		return &End{Result: record.Result{Failure: &record.Failure{Code: CodeNoType, Message: err.Error()}}}
	}
	return nil
}

// unwanted reports whether nobody will ask for a value: that of a tell, unless
// it is a root with a key, whose result can be asked for later. What is too
// large to be kept for that must not fail it.
func (a *Attempt) unwanted(value []byte) bool {
	r := &a.request
	if r.Return.Kind != record.ReturnClient || r.Return.Reply != "" || r.Key == "" {
		return r.Return.Tell()
	}
	limit := a.inc.node.config.MaxAnswer
	return limit > 0 && len(value) > limit
}

// step makes the Step, encoded. mu is held, and nothing can change any more.
func (a *Attempt) step(end *End) []byte {
	s := a.blank()
	*s = record.Step{Epoch: a.inc.epoch, Link: a.request.Link, Outcome: end.Outcome, Result: end.Result, Tail: end.Tail}
	if end.Result.Failure == nil {
		s.Delta, s.Tells, s.Letters = a.buffer.delta, a.buffer.tells, a.buffer.letters
	}
	config := &a.inc.node.config
	data := encode(s)
	answer := a.request.Return.Kind == record.ReturnClient && config.MaxAnswer > 0 && len(end.Result.Value) > config.MaxAnswer
	if len(data) <= config.MaxRecord+stepRoom && !answer {
		return data
	}
	message := fmt.Sprintf("the step of method %q has %d bytes, more than %d", a.request.Method, len(data), config.MaxRecord)
	if answer {
		message = fmt.Sprintf("the result of method %q has %d bytes, more than the %d of an answer: return less, or a part at a time",
			a.request.Method, len(end.Result.Value), config.MaxAnswer)
	}
	*s = record.Step{Epoch: a.inc.epoch, Link: a.request.Link, Result: record.Result{Failure: &record.Failure{
		Code: CodeTooLarge, Message: message,
	}}}
	end.Outcome, end.Result = record.End, s.Result
	return encode(s)
}

// blank is a Step to fill in: the worker's, if there is one.
func (a *Attempt) blank() *record.Step {
	if a.worker != nil {
		return &a.worker.step
	}
	return new(record.Step)
}

// stepRoom is what a step may have beside what its buffer was bounded to.
const stepRoom = 64 << 10

func (r *returned) happen(inc *incarnation) {
	a := (*Attempt)(r)
	a.came = true
	inc.dismiss(a)
	for _, w := range a.waits { // of goroutines that were left behind
		w.over = true
		w.resume <- struct{}{}
	}
	a.waits = emptied(a.waits)
	inc.touch(a.slot.actor)
}

// close brings the end of the method on record: after everything that it has
// called is answered (H13), on top of its actor's stack; or, if it failed, as
// soon as nothing of it is in flight (H25).
func (a *Attempt) close() {
	c := &a.closing
	if c.Retry != nil {
		a.fail(c.Retry)
		return
	}
	if c.data == nil {
		if a.awaitsLeftovers() {
			return
		}
		a.mu.Lock()
		c.data = a.step(&c.End)
		a.mu.Unlock()
	}
	a.launch(c.data, (*returned)(a))
}

// awaitsLeftovers reports whether calls of the method are out; it records what
// waits in its hands first, as any await does.
func (a *Attempt) awaitsLeftovers() bool {
	a.mu.Lock()
	out, calls := len(a.pending) > 0, len(a.buffer.calls) > 0
	a.mu.Unlock()
	if calls || out {
		return a.flush() || out
	}
	return !a.onTop()
}

// landed: the Step is applied.
func (r *returned) landed(machine.Void) {
	a := (*Attempt)(r)
	inc, c := a.inc, &a.closing
	inc.end(a)
	s := a.slot
	if a.cleared() || c.Result.Failure != nil { // what it wrote is gone, what it told its instance is not
		s.doomed = true
	}
	if inc.node.config.Observe != nil {
		inc.node.report(a.done())
	}
	inc.vacate(a)
}

// done is the event of a method whose Step is applied.
func (a *Attempt) done() Event {
	inc, c := a.inc, &a.closing
	e := Event{
		Kind: MethodDone, Partition: inc.self, Epoch: a.inc.epoch, Actor: a.request.Target.Actor, Method: a.request.Method,
		ID: a.request.ID, Attempt: a.number, Outcome: c.Outcome, Tell: a.request.Return.Tell(), Elapsed: inc.sinceLocal(a.since),
	}
	if c.Result.Failure != nil {
		e.Code, e.Err = c.Result.Failure.Code, errors.New(c.Result.Failure.Message)
	}
	return e
}

// cleared reports whether the step removed the actor.
func (a *Attempt) cleared() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.buffer.delta.Clear && a.Result.Failure == nil
}

// fail puts a failed attempt on record, with the time of the next one. Its
// children are not awaited: the retry is, until they have ended.
func (a *Attempt) fail(r *Retry) {
	inc := a.inc
	wait := r.After
	if wait <= 0 {
		wait = inc.typ.Backoff(a.number)
	}
	at := inc.now + wait.Milliseconds()
	r.Reason = brief(r.Reason)
	a.fly(&record.Failed{Epoch: a.inc.epoch, Link: a.request.Link, Attempt: a.number, NotBefore: at, Reason: r.Reason}, func() {
		inc.end(a)
		a.slot.doomed = true
		inc.reasons[a.request.ID] = r
		inc.node.report(a.failure(r, wait))
	})
}

// failure is the event of an attempt whose Failed is applied. The last one has
// no wait: the request is given up at once.
func (a *Attempt) failure(r *Retry, wait time.Duration) Event {
	inc := a.inc
	if a.number >= inc.typ.MaxAttempts {
		wait = 0
	}
	return Event{
		Kind: AttemptFailed, Partition: inc.self, Epoch: inc.epoch, Actor: a.request.Target.Actor, Method: a.request.Method,
		ID: a.request.ID, Attempt: a.number, Wait: wait, Err: errors.New(r.Reason), Elapsed: inc.sinceLocal(a.since),
	}
}

// defaultBackoff is that of a type without one: full jitter.
func defaultBackoff(failed uint64) time.Duration {
	const base, longest = 100 * time.Millisecond, 10 * time.Second
	bound := min(base<<min(failed-1, 10), longest)
	return time.Duration(rand.Int64N(int64(bound) + 1))
}
