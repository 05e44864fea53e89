// Package hook calls functions of the application where work of others must go
// on, whatever they do.
package hook

import "runtime/debug"

// Failure is how a call ended that did not return.
type Failure struct {
	// Panic is what it panicked with; nil if it ended its goroutine by
	// runtime.Goexit, as a failed assertion of a test does.
	Panic any
	// Stack is where that was.
	Stack []byte
}

// Call calls f on a goroutine of its own, which is all that f can end, and waits
// for it. It returns nil if f has returned.
func Call(f func()) *Failure {
	done := make(chan *Failure, 1)
	go func() {
		returned := false
		defer func() {
			if returned {
				done <- nil
				return
			}
			done <- &Failure{Panic: recover(), Stack: debug.Stack()}
		}()
		f()
		returned = true
	}()
	return <-done
}
