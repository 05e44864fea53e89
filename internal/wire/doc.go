// Package wire knows what travels between processes: the names of headers and
// the forms of their values. Every function is pure, takes the time where it
// needs it, never panics whatever it is given, and saturates where a number
// does not fit: a wait of twenty digits is a very long wait, not a short one.
//
// Values that come from outside are either usable or not. What is not usable
// is reported as such and never guessed at, since a guess could turn a server's
// plea into a hot loop, or a caller's deadline into a longer one.
package wire
