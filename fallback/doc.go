// Package fallback answers when a call cannot: by the last good value, by
// something of lesser quality, by a promise to do the work later, or by a
// clear error.
//
// # The problem
//
// Retries and breakers end in an error, and most callers can do better than
// to pass it on: a price of two minutes ago sells more than an error page.
// Written by hand, such code hides failures (nobody learns that a value is
// old), serves one user's data to another, hammers the sick backend with
// refreshes, answers callers that have gone, and fails on the one day when it
// runs for the first time.
//
// # The promise
//
// A [Ladder] is a list of rungs, best first. Where a call fails, they are
// asked one after the other until one answers.
//
//   - The call's own end is never lost: it is the cause that every rung is
//     given, the Cause in the report, what an [*Error] unwraps to, and what the
//     caller gets as it is where it is an answer and no rung has a better one.
//   - Every use is told: the report says degraded, by which rung, why, and how
//     old a cached value is; an event of kind [backstay.FallbackUsed] counts it.
//   - A caller that gave up gets its own error, and no rung is asked.
//   - A permanent failure, the caller's own mistake, is none that a ladder
//     answers for, unless [When] says so.
//   - A rung that fails, panics, or whose answer is judged a failure only leads
//     to the next one.
//   - Stale values are bounded in number and age. Refreshes run in the
//     background, one a key, a few in all, with pauses and a time limit, survive
//     panics, and are gone after [Ladder.Close].
//   - [Config.FailClosed] marks a call that must refuse rather than degrade;
//     [Config.DrillShare] keeps the path exercised.
//
// # Defaults
//
//	FailClosed            false
//	DrillShare            0: no drills
//	Cache.MaxEntries      1,000, least recently used out first
//	Cache.MaxAge          5min
//	Cache.RefreshTimeout  10s
//	Cache.RefreshEvery    1s between two refreshes of a key
//	Cache.MaxRefreshes    8 at once
//	answers for           transient, overload, fault, rejected; see When
//
// # Example
//
//	ladder, err := fallback.New(fallback.Config{}, fallback.Rungs(
//		fallback.Cached(nil, fetchRates),
//		fallback.Value(defaultRates),
//	))
//	...
//	defer ladder.Close(ctx)
//	rates, err := fallback.Do(ctx, ladder, fetchRates)
//
// # Rungs
//
//	Cached    the last good value of the same key
//	Reduced   another source, a simpler answer
//	Deferred  an acknowledgement; the work is done later
//	Value     a constant
//	Fail      a clear error
//
// The package's functions of these names make rungs for functions without a
// request, used with [Do]. The methods of [For] make rungs that see the
// request, used with [DoFor] and [Run]; [Cache] is for answers that cannot be
// kept as they are.
//
// # Pitfalls
//
//   - A key that leaves out the tenant or user serves one's data to another.
//   - A cached value and the argument of Value are shared by everybody who
//     gets them. Do not change them, or use a [Cache] that copies.
//   - A rung that depends on what has just failed fails as well. A rung is
//     bounded by the caller's context alone: give one that can be slow a
//     limit, and a breaker, of its own.
//   - A failed call may have had its effect. A Deferred rung should pass on
//     the same idempotency key.
//   - Each ladder has its own cache, lost with the process.
//   - A drill is not made at the backend: leave the share small, and do not
//     drill what has no good answer but the backend's.
//   - The context of a refresh carries the caller's values, credentials
//     included: a refresh runs on behalf of the caller that met the stale value.
//
// # Not for
//
// Caching: every call is made first, and a ladder answers only for failures.
// Authorization, payments and whatever else must not be guessed: mark them
// FailClosed.
package fallback
