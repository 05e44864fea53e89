// Package simtest is a cluster on virtual time: a log that several processes share
// and that behaves as badly as a broker and a network may, and a judge who
// recomputes from the log alone, after every record, whether what actors
// promise still holds.
//
// # The cluster
//
// A [Cluster] has the partitions. Each process sees it through a [View] of its
// own, which is a journal.Log: it can be cut off, paused, put out of the
// membership without being told, or die, and then nothing that its process does
// has an effect any more. All of it lives in one bubble of testing/synctest.
//
// Faults happen where a [Fault] says: at the n-th time that a process passes a
// named point, such as "append step" or "ack", or at a time.
//
// # The judge
//
// A [Judge] keeps a second, plain account of every partition by the rules of
// the protocol, beside the machine that the runtime uses, and compares the two
// after every record. On top of both it checks properties that no single
// partition can see, and which attempts run where, from what the methods
// report through [View.Trace]:
//
//	P1  a step that is done never begins again; a root ends once
//	P2  one effective attempt of a request, one unguarded invocation of an actor
//	P3  nothing begins or steps while a child of an earlier attempt lives
//	P4  what was accepted ends and is answered; nothing in transit is lost
//	P5  a client's request is accepted once
//	P6  mail is accepted once, in order, and only what its source's log produced
//	P7  what holds an actor, or has run in part, lets in its descendants only
//	P8  every record is a step of the calculus: the account before it, with the
//	    rule applied and its guards checked, is the account after it
//	P9  a link begins at most once more than its attempts allow
//	P10 a tick fires once, never early, and what is due is fired
//	P11 a message of a source topic enters once, in its order, and none is left
//	P13 who has lost a partition takes it over again only when it was told anew
//	    that it is its own
package simtest
