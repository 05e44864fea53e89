// Package runtime is the shell around the pure state machine of package
// machine: it owns partitions, runs methods, keeps time, and sends what the
// machine says is to be sent. It knows bytes only; package actors puts types
// over it.
//
// # Who does what
//
// A [Node] is this process. For every partition that it is assigned an owner
// goroutine claims the partition and then keeps it: an incarnation per claim,
// with nothing shared with an older one (H17). The incarnation's loop is the
// only one that touches the state; attempts, acknowledgements, timers and
// reads reach it as events through one queue. Methods run on goroutines of
// their own and never hold the loop up.
//
// The loop is a baton rather than a goroutine: one at a time has it and runs
// turns. The owner's goroutine waits for it; but a method that has returned, one
// that awaits, and a client that waits for an answer take it where they find it
// free, run a few turns themselves, and nobody need be woken (drive.go). A
// worker whose method has returned goes on with the next one it has begun. What
// a turn has for others, answers and methods, they get at its end (handout.go):
// who is woken in the middle of it would run beside it instead of after it.
//
// Everything that others can see happens after a record was applied, never
// before (R2, H21): it came from the reader, or is an own record that was
// acknowledged at the very next offset, with the log's time (R18 to R21).
//
// # Rules
//
// Comments cite the rules by number as package machine does.
package runtime
