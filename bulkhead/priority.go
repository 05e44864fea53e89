package bulkhead

import "context"

// Priority says which calls are given up first when there is not room for all.
type Priority int8

const (
	// Sheddable calls go first: background refreshes, prefetching, reports.
	Sheddable Priority = -1
	// Default is what a call is that does not say.
	Default Priority = 0
	// Critical calls go last: a user waits, money is involved.
	Critical Priority = 1
)

// String returns "critical", "default" or "sheddable".
func (p Priority) String() string {
	return [ranks]string{"critical", "default", "sheddable"}[p.rank()]
}

// A rank is a Priority as an index, first served first.
type rank uint8

const (
	ranks       = 3
	defaultRank = rank(1)
)

// rank takes values beyond the named ones for the nearest of them.
func (p Priority) rank() rank { return rank(1 - min(max(p, Sheddable), Critical)) }

type (
	priorityKey struct{}
	weightKey   struct{}
)

// WithPriority returns a context whose calls have priority p under every
// bulkhead that has [Config].Priorities set, be it to a zero [PriorityConfig].
// Under others it has no effect.
func WithPriority(ctx context.Context, p Priority) context.Context {
	return context.WithValue(ctx, priorityKey{}, p)
}

// PriorityFrom returns the priority of ctx's calls, [Default] if it has none.
func PriorityFrom(ctx context.Context) Priority {
	p, _ := ctx.Value(priorityKey{}).(Priority)
	return p
}

// WithWeight returns a context whose calls weigh n under every bulkhead with
// [Config].Weighted. Others do not look. A weight below 1 counts as 1.
func WithWeight(ctx context.Context, n int64) context.Context {
	return context.WithValue(ctx, weightKey{}, n)
}

// WeightFrom returns the weight of ctx's calls, 1 if it has none.
func WeightFrom(ctx context.Context) int64 {
	n, _ := ctx.Value(weightKey{}).(int64)
	return max(1, n)
}
