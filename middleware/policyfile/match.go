package policyfile

import (
	"slices"

	"github.com/backstay-go/backstay/middleware"
)

// Request is what tells which target a call belongs to.
type Request = middleware.Request

// sorted returns the patterns of all targets, the most specific first, and
// reports those between which nothing decides.
func (r *reader) sorted(targets []*definition) []pattern {
	var all []pattern
	for _, d := range targets {
		for _, p := range d.patterns {
			if p.target = d.name; !p.broken {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, compare)
	r.undecided(all)
	return all
}

// undecided reports the patterns that match what one of another target matches,
// neither being more specific.
func (r *reader) undecided(all []pattern) {
	type claim struct{ kind, method string }
	first := make(map[claim]pattern)
	for _, p := range all {
		methods := p.methods
		if methods == nil {
			methods = []string{""}
		}
		for _, m := range methods {
			c := claim{p.kind(), m}
			q, taken := first[c]
			switch {
			case !taken:
				first[c] = p
			case q.target != p.target:
				r.add(p.at, "make one of them more specific", "target %s matches the same requests, in line %d", q.target, q.at.line)
			}
		}
	}
}
