// Package hedge answers a slow call with a second copy of it.
//
// # The problem
//
// Most slow answers are not a slow backend but one unlucky request: a pause of
// the garbage collector, a lost packet, a busy replica. Sent again, the request
// is usually quick. So hedge waits until a call has taken longer than nearly
// all others, sends a copy, and returns the first good answer. That cuts the
// tail of the latencies at the price of a few per cent more load.
//
// # The promise
//
//   - A failed copy never beats a healthy one that still runs. A failure that
//     every copy would meet (a permanent one, a fault) ends the race at once; a
//     quick transient failure sends the next copy at once.
//   - Extra load is bounded: by a budget of its own, for one caller as for
//     fifty, and by a budget shared with the retries if there is one. Copies
//     under way finish when it runs out.
//   - A backend that is slow as a whole is left alone: hedging is off while the
//     percentile has reached the ceiling, and while a gate says no.
//   - Each copy has a request, a reply and a context of its own. Losers are
//     cancelled with the cause [ErrLost], their answers discarded; they count
//     neither as errors nor as latencies.
//   - The first copy runs on the caller's goroutine. Later copies run on
//     goroutines that [Policy.Close] waits for, and their panics reach the
//     caller's own recover.
//
// # Defaults
//
//	Delay         0: the live percentile   fixed wait before each further copy
//	Percentile    0.95                     of the successes of this key
//	MinSamples    100                      no hedging before
//	Floor         5ms                      shortest live delay
//	Ceiling       1s                       no hedging from there on
//	MaxCopies     1                        beside the first
//	Budget.Ratio  0.05                     copies that each call pays for
//	Budget.Burst  10                       copies saved up; a new policy has them
//
// The percentile covers the latest 512 to 1,024 successes (more for a
// percentile above 0.96), is within 4 % of the truth, and is looked at anew
// every 32 successes. It takes about one kilobyte a key with the default floor
// and ceiling, 128 bytes more for each doubling between the two. A call counts
// with the time that its caller waited. That keeps the percentile where it is:
// were the cancelled losers simply missing, each copy would lower the delay of
// the next.
//
// # Example
//
//	policy, err := hedge.New(hedge.Config{})
//	...
//	price, err := hedge.Do(ctx, policy, func(ctx context.Context) (Price, error) {
//		return client.Price(ctx, item)
//	})
//
// A protocol runs its requests through [Run] with its Exchange, which may be a
// [Hedger] to name the requests that must not be sent twice. A transport that
// knows replicas calls [Used] and obeys [AvoidFrom].
//
// # Pitfalls
//
//   - The function must return when its context ends. A first copy that does
//     not, holds up an answer that is there already.
//   - It runs twice at the same time: what it captures must allow that.
//   - Hedging writes is dangerous even if they are idempotent: a losing PUT may
//     take effect after the caller's next one. Hence the mark.
//   - Keys of very different latencies need policies of their own ([Policy.Clone]).
//
// # Not for
//
// Streams; calls that are slow because of what they ask for; backends without a
// second replica, where a copy waits in the same queue.
package hedge
