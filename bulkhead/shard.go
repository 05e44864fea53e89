package bulkhead

import (
	"errors"
	"fmt"
	"math"

	"github.com/backstay-go/backstay"
)

// Shard returns the size shards, of 0 to shards-1, that belong to a tenant,
// the preferred one first. Two tenants rarely share all of theirs, so what one
// of them does to its shards leaves the others at least some that work: of 100
// shards taken 5 at a time, three in four pairs of tenants share none, and one
// in 75 million shares all.
//
// The choice depends on nothing but the arguments, and will be the same in
// every process, release and architecture: shard i has the score
// mix(mix(h) + (i+1) x 0x9e3779b97f4a7c15), h the 64-bit FNV-1a hash of the
// tenant, mix the finalizer of SplitMix64; the highest scores win (rendezvous
// hashing). Another shard therefore takes, of every tenant, at most one of its
// shards away. It is no defence against tenants who choose their own names.
//
// A size above shards means all of them; the result is nil if either is below 1.
func Shard(tenant string, shards, size int) []int {
	if shards < 1 || size < 1 {
		return nil
	}
	all := choose(make([]scored, 0, min(size, shards)), tenant, shards)
	chosen := make([]int, len(all))
	for i, s := range all {
		chosen[i] = s.shard
	}
	return chosen
}

type scored struct {
	shard int
	score uint64
}

// choose fills best, up to its capacity, with the shards of the tenant.
func choose(best []scored, tenant string, shards int) []scored {
	seed := mix(fnv1a(tenant))
	for i := range shards {
		s := scored{i, mix(seed + uint64(i+1)*0x9e3779b97f4a7c15)}
		at := len(best)
		for at > 0 && best[at-1].score < s.score {
			at--
		}
		switch {
		case at == cap(best):
			continue
		case len(best) < cap(best):
			best = best[:len(best)+1]
		}
		copy(best[at+1:], best[at:])
		best[at] = s
	}
	return best
}

func fnv1a(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Sharded is a set of equal bulkheads, of which every tenant may use a few
// (see [Shard]): a tenant that fills its own leaves the others alone, without
// a bulkhead for each of them. It is safe for concurrent use; of a nil
// *Sharded every tenant gets a nil *Bulkhead.
type Sharded struct {
	shards []*Bulkhead
	size   int
}

// NewSharded returns shards bulkheads of the configuration c, of which every
// tenant may use size. The limits of c are those of one shard.
func NewSharded(c Config, shards, size int, options ...Option) (*Sharded, error) {
	const most = 1 << 16
	err := backstay.Check(
		backstay.Setting{
			Path: "shards", Value: shards,
			Valid:   shards >= 1 && shards <= most,
			Allowed: "must be from 1 to 65536",
		},
		backstay.Setting{
			Path: "size", Value: size,
			Valid:   size >= 1 && size <= shards,
			Allowed: "must be from 1 to shards",
		},
	)
	if err = errors.Join(err, c.Validate()); err != nil {
		return nil, backstay.Under("bulkhead", err)
	}
	first := build(c, options)
	s := &Sharded{shards: make([]*Bulkhead, shards), size: size}
	for i := range s.shards {
		s.shards[i] = first.Clone(shardScope(first.scope, i))
	}
	return s, nil
}

// shardScope puts the number of the shard behind the key.
func shardScope(s *backstay.Scope, shard int) *backstay.Scope {
	var named backstay.Scope
	if s != nil {
		named = *s
	}
	named.Key = fmt.Sprintf("%s#%d", named.Key, shard)
	return &named
}

// For returns, of the tenant's bulkheads, the one with the most room: the
// preferred one among equals. If that is full they all are.
func (s *Sharded) For(tenant string) *Bulkhead {
	if s == nil {
		return nil
	}
	var few [8]scored
	best := few[:0:min(s.size, len(few))]
	if s.size > len(few) {
		best = make([]scored, 0, s.size)
	}
	var roomiest *Bulkhead
	most := int64(math.MinInt64)
	for _, candidate := range choose(best, tenant, len(s.shards)) {
		b := s.shards[candidate.shard]
		if room := b.room(); room > most {
			roomiest, most = b, room
		}
	}
	return roomiest
}

// room is how much more weight fits; waiters count against it.
func (b *Bulkhead) room() int64 {
	return b.limit(b.plan.Load()) - b.InFlight() - b.Queued()
}
