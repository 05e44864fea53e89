// Package window counts recent outcomes without locks on the way.
//
// Three forms, by what "recent" means and what it costs:
//
//   - [Strip]: the last calls, up to 62 of them, in one machine word. The word
//     belongs to the caller, who swaps it atomically; a healthy full strip does
//     not change when another success is pushed, so nothing is written at all.
//   - [Last]: the last calls, any number, in a circle of bits.
//   - [Rolling]: the last stretch of time, in a ring of buckets.
//
// None of them reads a clock. Under contention the counts may lag behind by the
// calls that are being added at this moment; they are never torn.
package window

// Counts is what a window knows. A call may be failed, slow, both or neither.
type Counts struct {
	// Calls, Failures and Slow count calls within the window.
	Calls, Failures, Slow int
	// Consecutive is the number of failures since the last call that did not
	// fail. In a Strip it ends at the window's size, elsewhere it has no end.
	Consecutive int
}
