// Package machine is the state machine of a partition of actors: what is
// queued, what was called, what is stored, and what is still to be sent, as a
// function of the partition's log and of nothing else.
//
// # Two halves
//
// [State.Apply] takes the records of the log, in order, with their append
// times, and returns as [Effects] what follows: messages to forward, answers
// to emit, results for attempts that wait. A record that a rule makes void
// changes nothing, and says which rule. The owner, a zombie and whoever takes
// over next come to the same state, byte for byte ([State.Snapshot]).
//
// [View.Decide] says what an owner may begin. It looks at the applied state
// and at the owner's own attempts, and changes neither.
//
// There are neither goroutines nor clocks nor I/O in here, and nothing depends
// on the order of maps: time comes from the log, or as an argument. A State is
// for one goroutine at a time.
//
// # Rules
//
// Comments cite the rules by number: H for a hole that a rule closes, R for a
// rule whose absence a test shows to be wrong, P for a property that holds.
//
//	P1  a step that is done never begins again; a root ends once
//	P2  one effective owner, one attempt of a link, one unguarded invocation of an actor
//	P3  nothing begins or ends while a child of an earlier attempt lives
//	P4  what was accepted ends and is answered
//	P5  a client's request is accepted once
//	P6  mail is accepted once, in order, and only what its source's log produced
//	P7  what holds an actor, or has run in part, lets in its descendants only
//	P8  the log is a run of the calculus of the paper, with requests in transit
//	P9  attempts are bounded, across owners
//	P10 a tick fires once, never early
//	P11 a message of a source topic enters once, none is skipped
//	P12 a read is never older than what was answered before it was sent
//
// # What a runtime has to keep
//
// It acts on applied records only (R2, H21). It recognises its Takeover by the
// nonce (H16) and takes [State.Suspects] and [State.IssuedChildren] as of that
// record (R31). It stamps records with the epoch in which the attempt began
// (H17), never repeats an append of unknown outcome (H3), closes the gate of
// an attempt before its Step (H13), and lets no Failed out beside an own
// Issued in flight (H25).
package machine
