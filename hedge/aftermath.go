package hedge

import (
	"context"

	"github.com/backstay-go/backstay"
)

// report notes how many copies there were and which one answered.
func (r *race[Q, R]) report(ctx context.Context) {
	copies, winner := len(r.later), 0
	if w := r.winner; w != nil && r.reason(w) == backstay.ReasonHedgeWon {
		winner = w.number
	}
	backstay.Note(ctx, func(s *backstay.Summary) {
		s.Copies += copies
		s.Winner = winner
	})
}

// freeLosers discards what lost, and tells how each copy that has ended did.
// Those that still run do so themselves when they end.
func (r *race[Q, R]) freeLosers(ctx context.Context) {
	r.freeEnded(ctx, &r.first)
	for _, l := range r.later {
		r.freeEnded(ctx, l)
	}
}

func (r *race[Q, R]) freeEnded(ctx context.Context, l *lane[R]) {
	switch {
	case !l.ended:
	case l == r.winner:
		r.tell(ctx, l, r.reason(l))
	default:
		r.drop(ctx, l, r.reason(l))
	}
}

// reason says what became of a copy that ended before the race did.
func (r *race[Q, R]) reason(l *lane[R]) backstay.Reason {
	switch {
	case l.outcome.Class == backstay.Canceled, r.left && l == r.winner:
		return backstay.ReasonHedgeCancelled
	case l == r.winner:
		return backstay.ReasonHedgeWon
	default:
		return backstay.ReasonHedgeLost
	}
}

// drop frees a copy that did not win.
func (r *race[Q, R]) drop(ctx context.Context, l *lane[R], why backstay.Reason) {
	if l.err == nil {
		r.exchange.Discard(l.answer)
	}
	l.Cancel()
	r.tell(ctx, l, why)
}

// tell says how a copy ended.
func (r *race[Q, R]) tell(ctx context.Context, l *lane[R], why backstay.Reason) {
	r.policy.scope.Emit(ctx, backstay.Event{
		Kind: backstay.HedgeDone, Copy: l.number, Reason: why,
		Elapsed: l.took, Outcome: l.outcome, Err: l.err,
	})
}
