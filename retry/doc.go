// Package retry makes another attempt where a call has failed and another
// attempt may mend it, and sees to it that retries do not make an outage worse.
//
// # The problem
//
// A retry helps against a failure that passes. Against an overload it is more
// load: three attempts in each of three layers make 27 calls of one, clients
// that wait for the same time come back together, and a retry that cannot end
// before the caller's deadline is work for nobody.
//
// # The promise
//
//   - Only what may be repeated is repeated; the protocol says what that is
//     (see backstay.Exchange), and [MarkRepeatable] says it for one call.
//   - All calls of a policy together make at most a tenth more attempts than
//     there are calls, and a small burst: the [Budget]. It holds for one caller
//     as for a thousand.
//   - Waits are random from zero to a bound that doubles: full jitter. A wait
//     that the server asked for is kept, never cut short, with our own on top.
//   - A wait that does not fit into what is left of the deadline, or that is
//     longer than MaxServerWait, is not begun: the call ends at once.
//   - The last answer or error is never lost: an answer is returned as it is,
//     unread, and every error leads to the backend's own.
//   - A request that was refused before sending (an open breaker, a full
//     bulkhead) is not retried and not waited for.
//   - One layer retries: below a request that arrived as a retry, policies
//     stand back ([Suppress]).
//
// A call that succeeds at once costs no allocation and no timer, and reads the
// clock only for the budget.
//
// # Defaults
//
//	MaxAttempts       3       the first one included
//	Base              100ms   bound of the first wait; NoWait: none
//	Cap               2s      bound of every wait of our own
//	Multiplier        2
//	MaxServerWait     30s     NoWait: answers that ask for a wait are returned
//	MinAttemptTime    10ms    must be left after a wait
//	RetryNested       false
//	Budget.Ratio      0.1     of a retry, earned by every call
//	Budget.Window     10s     in which it can be spent
//	Budget.Burst      3       not earned; grows back by one a Window; NoBurst
//	Budget.Off        false   NoBudget
//
// # Example
//
//	policy, err := retry.New(retry.Config{})
//	...
//	price, err := retry.Do(ctx, policy, func(ctx context.Context) (Price, error) {
//		return client.Price(ctx, item)
//	})
//
// # What a caller sees
//
// The answer, or one of these:
//
//	the last answer, nil error  it is a failure, and there is no other attempt
//	*ExhaustedError             attempts used up (two or more), no time, or an
//	                            empty budget
//	*RefusedError               a later attempt was rejected before it was sent
//	an error that matches       ctx ended between attempts or in a later one;
//	ctx.Err(), its cause,       its class is canceled
//	and the last failure
//	the backend's own error     everything else
//
// Which it was, and why there was no other attempt, is in backstay.Report. An
// observer is told of every retry that is planned and of every one that is
// suppressed; the Err of the latter says what forbids it where the request must
// not be repeated, and is the failure otherwise.
//
// # Pitfalls
//
//   - A ctx mark holds for every call made with that ctx: [MarkRepeatable] and
//     [WithMaxAttempts] belong around one call, not around a handler.
//   - The budget also bounds a caller that makes one call now and then: its
//     burst is 3 retries in 10 s. A first try by hand with MaxAttempts 5 sees
//     four attempts, and its next call one. [NoBudget] is for such tests.
//   - [Do] cannot know whether a function may run twice. Whoever calls it says
//     that it may.
//   - The budget of a policy is per instance: a registry of pipelines has one
//     for each key, unless they share one through [WithBudget].
//   - backoff.Permanent is honoured here only. backstay.PermanentError also
//     tells the breaker that the backend is well.
//   - net/http repeats a request on its own where a reused connection turns out
//     to be dead. Such repeats are not counted here.
//
// # Not for
//
// Work that must outlive the process, or that takes minutes to mend: that is a
// job for a queue or an actor. Not for polling either: a poll's "not yet" is an
// answer and no failure.
package retry
