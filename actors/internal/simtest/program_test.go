package simtest_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
)

// op is one thing that a method does. What a method does travels as its
// argument, so that a random program needs one method only.
type op struct {
	Do     string
	To     string `json:",omitempty"` // an actor, "type/id"
	Cell   string `json:",omitempty"`
	Wait   int    `json:",omitempty"` // ms
	TTL    int    `json:",omitempty"` // ms
	Script []op   `json:",omitempty"`
}

func (o *op) args() []byte {
	b, err := json.Marshal(o.Script)
	if err != nil {
		panic(err)
	}
	return b
}

// The actors that call are in this order, and calls go upwards only, or back to
// who called: so what waits for each other in a circle has a call in it that has
// not begun, which the busy timeout breaks. Leaves do not call.
var (
	callers = []string{"p/0", "p/1", "q/2", "p/3", "q/4"}
	leaves  = []string{"p/leaf", "q/leaf"}
)

// author writes programs.
type author struct{ *rand.Rand }

// root is what a client asks for.
func (w author) root() (to string, script []op) {
	i := w.IntN(len(callers))
	return callers[i], w.script(situation{at: i, depth: 3})
}

// situation is where a method runs.
type situation struct {
	at     int   // among callers, or -1
	above  []int // callers that wait for it
	depth  int
	nested bool
}

func (w author) script(s situation) (all []op) {
	for range 1 + w.IntN(4) {
		all = append(all, w.op(s)...)
	}
	return append(all, w.end(s)...)
}

func (w author) cell() string { return "c" + strconv.Itoa(w.IntN(2)) }

func (w author) op(s situation) []op {
	increment := func() []op {
		c := w.cell()
		return []op{{Do: "get", Cell: c}, {Do: "set", Cell: c}}
	}
	switch n := w.IntN(20); {
	case n < 4:
		return increment()
	case n < 9:
		return w.call(s, "call")
	case n < 12: // several at once, with work in between
		all := append(w.call(s, "go"), w.call(s, "go")...)
		if w.IntN(2) == 0 {
			all = append(all, increment()...)
		}
		if w.IntN(3) == 0 {
			all = append(all, w.call(s, "go")...)
		}
		return append(all, op{Do: []string{"await", "await back", "await one"}[w.IntN(3)]})
	case n < 14:
		i := w.IntN(len(callers))
		o := op{Do: "tell", To: callers[i], Script: w.script(situation{at: i, depth: 0})}
		if w.IntN(3) == 0 {
			o.Wait = w.IntN(500)
		}
		if w.IntN(4) == 0 {
			o.TTL = 1 + w.IntN(200)
		}
		return []op{o}
	case n < 16:
		return []op{{Do: "sleep", Wait: w.IntN(1 + w.IntN(300))}}
	case n < 17:
		return []op{{Do: []string{"retry", "panic", "retry"}[w.IntN(3)]}}
	case n < 18:
		return []op{{Do: "remind", Cell: "r" + strconv.Itoa(w.IntN(2)), Wait: w.IntN(400), Script: []op{{Do: "get", Cell: "c0"}, {Do: "set", Cell: "c0"}}}}
	case n < 19:
		return []op{{Do: "publish"}}
	default:
		return []op{{Do: "point"}}
	}
}

// call calls upwards, or back to somebody who waits.
func (w author) call(s situation, do string) []op {
	if s.depth == 0 || s.at < 0 {
		return []op{{Do: "sleep", Wait: 1}}
	}
	o := op{Do: do}
	if w.IntN(5) == 0 {
		o.TTL = 1 + w.IntN(400)
	}
	inner := situation{depth: s.depth - 1, nested: true, above: append(slices.Clone(s.above), s.at)}
	switch {
	case len(s.above) > 0 && w.IntN(2) == 0:
		inner.at = s.above[w.IntN(len(s.above))]
	case w.IntN(8) == 0:
		inner.at = s.at // itself
	case s.at+1 < len(callers):
		inner.at = s.at + 1 + w.IntN(len(callers)-s.at-1)
	default:
		o.To, inner.at = leaves[w.IntN(len(leaves))], -1
		o.Script = w.script(inner)
		return []op{o}
	}
	o.To, o.Script = callers[inner.at], w.script(inner)
	return []op{o}
}

// end is how a method ends.
func (w author) end(s situation) []op {
	if s.depth == 0 {
		return []op{{Do: "end"}}
	}
	next := s
	next.depth--
	switch n := w.IntN(12); {
	case n < 3:
		return []op{{Do: "get", Cell: "c0"}, {Do: "tail self", Script: append([]op{{Do: "assign", Cell: "c0"}}, w.script(next)...)}}
	case n < 5 && !s.nested:
		next.at = w.IntN(len(callers))
		return []op{{Do: "tail to", To: callers[next.at], Script: w.script(next)}}
	case n < 5: // to a leaf, which may tail-call into the actor of somebody who waits
		o := op{Do: "tail to", To: leaves[w.IntN(len(leaves))], Script: []op{{Do: "get", Cell: "c0"}, {Do: "set", Cell: "c0"}, {Do: "end"}}}
		if len(s.above) > 0 && w.IntN(2) == 0 {
			back := callers[s.above[w.IntN(len(s.above))]]
			o.Script[2] = op{Do: "tail to", To: back, Script: []op{{Do: "get", Cell: "c1"}, {Do: "set", Cell: "c1"}, {Do: "end"}}}
		}
		return []op{o}
	case n < 6 && !s.nested:
		return []op{{Do: "tail release", Script: w.script(next)}}
	case n < 7:
		return append(w.call(s, "go"), op{Do: "end"}) // what is not awaited
	case n < 8:
		return []op{{Do: "leak", To: leaves[0], Script: []op{{Do: "end"}}}, {Do: "end"}}
	case n < 9:
		return []op{{Do: "error"}}
	default:
		return []op{{Do: "end"}}
	}
}
