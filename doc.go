// Package backstay is the vocabulary that every other package of the module
// shares: how the end of an attempt is named ([Outcome], [Class]), how a
// protocol repeats and judges a request ([Exchange]), how a local refusal is
// recognised ([ErrRejected]), and how what happened is told ([Event],
// [Observer], [Tracer], [Report]).
//
// It imports the standard library only and contains no policy. The policies
// live in packages named after them: timeout, deadline, retry, breaker,
// bulkhead, hedge, fallback, idempotency. Package middleware composes them in
// their canonical order; middleware/httpmw puts the result under an
// http.Client.
//
// Most programs need from here only [WithReport], to learn what a call went
// through, and errors.Is(err, ErrRejected), to tell "we refused to send it"
// from "it was sent and failed".
package backstay
