package actors

// Next is how a method that was given to [HandleNext] ends: with a value, or
// with a tail call whose value will be the method's. The zero Next is the zero
// value of Out.
//
// A tail call ends the method and makes the next call in one record: after a
// failure exactly one of the two is left to do. What was read before the tail
// call can be written after it, once.
type Next[Out any] struct {
	value Out
	tail  *tail
}

// tail is a tail call, before it is sent.
type tail struct {
	callee
	in      any
	args    []byte // in, encoded already, if not nil
	release bool   // the actor is let go
}

// Return ends a method with a value.
func Return[Out any](value Out) Next[Out] { return Next[Out]{value: value} }

// Tail goes on with another method of the same actor, which the chain keeps:
// nothing but what the chain itself calls runs in between, also after a
// failure.
func (m Method[In, Out, A]) Tail(self Self[A], in In) Next[Out] {
	return m.tail(self.Ref(), in, false)
}

// TailRelease goes on with another method of the same actor, behind what waits
// for the actor now.
func (m Method[In, Out, A]) TailRelease(self Self[A], in In) Next[Out] {
	return m.tail(self.Ref(), in, true)
}

// TailTo goes on at another actor; that of the method is free as soon as the
// step is recorded. The caller of the chain gets its last value. A tail call
// to the own actor is [Method.TailRelease], by whatever address.
func (m Method[In, Out, A]) TailTo(ref Ref[A], in In) Next[Out] {
	return m.tail(ref, in, true)
}

func (m Method[In, Out, A]) tail(ref Ref[A], in In, release bool) Next[Out] {
	return Next[Out]{tail: &tail{callee: m.of(ref), in: in, release: release}}
}
