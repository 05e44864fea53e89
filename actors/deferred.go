package actors

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// Token names a reply that a method has deferred with [Defer]: whoever has it
// can complete it. It is text, the same with every codec: send it to another
// actor, put it into an e-mail, and take it from a URL again:
//
//	actors.Token[Decision](r.PathValue("token")) // of "POST /decide/{token...}"
//
// It is no secret: one who knows the caller's idempotency key can make it. Sign
// what leaves your own systems.
type Token[T any] string

// Defer lets somebody else give the method's value, later: a person who
// approves, a webhook. The method hands the token on, and returns the Next:
//
//	func approve(ctx context.Context, self actors.Self[order], in Purchase) (actors.Next[Decision], error) {
//		token, reply := actors.Defer[Decision](self, 48*time.Hour)
//		return reply, ask.Tell(ctx, Manager.Ref(in.Manager), Question{in, token})
//	}
//
// The actor is free as soon as the step is recorded, nothing runs while the
// reply is open, and no failure loses it. The caller gets what [Token.Complete]
// or [Token.Fail] is given, or [ErrNotCompleted] if neither came within that
// time, which must be positive. A retry of the step gets the same token; in one
// step there is only one.
//
// A method that calls this one waits for it, with its actor. Where that is too
// long, have the method told, and let who completes tell on.
func Defer[T, A any](self Self[A], within time.Duration) (Token[T], Next[T]) {
	if within <= 0 {
		_ = self.spoil(mistake("actors: Defer of %s: the time to complete must be positive, and is %v", self.Ref(), within))
	}
	place := self.attempt.Key("deferred")
	until := self.attempt.Now() + milliseconds(within)
	to := callee{self.Ref().Type, placeOf(place), methodOpen}
	next := Next[T]{tail: &tail{callee: to, release: true, args: strconv.AppendInt(nil, until, 10)}}
	return Token[T](self.Ref().Type + "/" + place), next
}

// Complete gives the deferred reply its value. The first that completes or
// fails it wins; what comes later, or twice, changes nothing, and is no error.
// A token that nobody ever made is no error either, if it has the form of one.
//
// From outside it returns when the log has acknowledged it: no failure loses
// it then, whether or not anybody hosts the actor now. Within a method it is
// done with the method's step, if that happens.
func (t Token[T]) Complete(ctx context.Context, value T) error {
	n, err := nodeFrom(ctx)
	if err != nil {
		return err
	}
	raw, err := n.codec.Encode(value)
	if err != nil {
		return mistake("actors: the value of a deferred reply: %w", err)
	}
	return n.complete(ctx, string(t), record.Result{Value: raw})
}

// Fail ends the deferred reply with an error, as if the method had returned it.
func (t Token[T]) Fail(ctx context.Context, err error) error {
	n, fault := nodeFrom(ctx)
	if fault != nil {
		return fault
	}
	if err == nil {
		return mistake("actors: Fail needs an error")
	}
	return n.complete(ctx, string(t), failed(err))
}

// complete tells a reply's place how it ends.
func (n *Node) complete(ctx context.Context, token string, r record.Result) error {
	name, place, _ := strings.Cut(token, "/")
	if checkName(name) != nil || !isPlace(placeOf(place)) {
		return mistake("actors: %q is no token of a deferred reply", token)
	}
	o := outgoing{callee: callee{name, placeOf(place), methodComplete}}
	args := codec.Append(nil, &r)
	if i := invocationFrom(ctx); i != nil {
		return o.failed(i.attempt.Tell(record.Call{Target: o.target(), Method: o.method, Args: args}))
	}
	return o.failed(n.runtime.Tell(ctx, runtime.ClientCall{Target: o.target(), Method: o.method, Args: args, Key: token}))
}

// An open reply is a link of the caller's chain: a request that waits in the
// mailbox of a place of its own, an actor of the type that deferred it, behind
// a latch. What completes it, or the reminder that it is too late, is a request
// to the same place, and opens the latch. Both are kept by the log like all
// requests, so nothing else has to be.
const (
	methodOpen     = "deferred.open"
	methodWait     = "deferred.wait"
	methodComplete = "deferred.complete"
	methodExpire   = "deferred.expire"
	methodForget   = "deferred.forget"

	cellReply = "reply"
)

// rememberReply is how long a reply is remembered after it was completed: for a
// caller whose step is retried, and asks again; and for one that was completed
// before the step that deferred it was on record.
const rememberReply = 7 * 24 * time.Hour

// placeOf is the id of the actor where a reply is waited for. place is a derived
// key: nobody gives an actor such an id by chance, and [Node.encode] refuses it.
func placeOf(place string) string { return placePrefix + place }

const placePrefix = "deferred."

var placeForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// isPlace reports whether an id is that of such an actor.
func isPlace(id string) bool {
	place, ok := strings.CutPrefix(id, placePrefix)
	return ok && placeForm.MatchString(place)
}

// deferring are the methods of such places, which every type has.
func deferring() map[string]runtime.Method {
	return map[string]runtime.Method{
		methodOpen:     {Bare: true, Run: whole(openReply)},
		methodWait:     {Bare: true, Run: whole(awaitReply), Opens: []string{methodComplete, methodExpire}},
		methodComplete: {Bare: true, Run: whole(keepReply)},
		methodExpire:   {Bare: true, Run: whole(keepReply)},
		methodForget:   {Bare: true, Run: whole(forgetReply)},
	}
}

// whole makes an error a failed attempt.
func whole(f func(context.Context, *runtime.Attempt) (runtime.End, error)) func(context.Context, *runtime.Attempt) runtime.End {
	return func(ctx context.Context, a *runtime.Attempt) runtime.End {
		end, err := f(ctx, a)
		if err != nil {
			return runtime.End{Retry: &runtime.Retry{Reason: err.Error()}}
		}
		return end
	}
}

// openReply begins to wait, unless the reply is there already.
func openReply(ctx context.Context, a *runtime.Attempt) (end runtime.End, err error) {
	raw, ok, err := a.Cell(ctx, cellReply)
	switch {
	case err != nil:
		return end, err
	case ok:
		return runtime.End{Result: decodeReply(raw)}, nil
	}
	until, err := strconv.ParseInt(string(a.Request().Args), 10, 64)
	if err != nil {
		return end, err
	}
	end = runtime.End{Outcome: record.TailSelf, Tail: &record.Call{Method: methodWait}}
	return end, a.Remind(record.Reminder{Name: methodExpire, Next: max(until, 1), Method: methodExpire})
}

// awaitReply ends the wait with what has opened the latch.
func awaitReply(_ context.Context, a *runtime.Attempt) (end runtime.End, err error) {
	opener, ok := a.Opener()
	if !ok {
		return end, errors.New("nothing has completed the reply")
	}
	return runtime.End{Result: decodeReply(replyOf(&opener))}, nil
}

// keepReply remembers how the reply ended, if nobody was faster.
func keepReply(ctx context.Context, a *runtime.Attempt) (end runtime.End, err error) {
	if _, ok, err := a.Cell(ctx, cellReply); ok || err != nil {
		return end, err
	}
	forget := record.Reminder{Name: methodForget, Next: a.Now() + rememberReply.Milliseconds(), Method: methodForget}
	return end, errors.Join(
		a.Set(cellReply, replyOf(a.Request())),
		a.Remind(forget),
		a.Remind(record.Reminder{Name: methodExpire}),
	)
}

func forgetReply(_ context.Context, a *runtime.Attempt) (end runtime.End, err error) {
	return end, a.Clear()
}

// replyOf is the reply that a request brings, encoded.
func replyOf(r *record.Request) []byte {
	if r.Method == methodComplete {
		return r.Args
	}
	late := record.Failure{Code: codeNotCompleted, Message: "nobody completed the reply in time"}
	return codec.Append(nil, &record.Result{Failure: &late})
}

func decodeReply(raw []byte) (r record.Result) {
	if err := codec.Decode(raw, &r); err != nil {
		return failed(fmt.Errorf("actors: a deferred reply: %w", err))
	}
	return r
}

// codeNotCompleted is that of a reply that nobody completed.
const codeNotCompleted = "not_completed"
