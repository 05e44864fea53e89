package machine

import "fmt"

// The programs. Actors are numbered; methods are numbered within a scenario.

var (
	increment = method{{do: get}, {do: tailSelf, method: 1}} // then assign
	assign    = method{{do: setArg}, {do: end}}
	nothing   = method{{do: end}}
	careless  = method{{do: get}, {do: set}, {do: end}} // reads and writes in one step
)

func calls(actor, m int) method {
	return method{{call, actor, m}, {do: await}, {do: end}}
}

func exactly(actor int, n byte) func([]byte) string {
	return func(cells []byte) string {
		if cells[actor] != n {
			return fmt.Sprintf("P5: the cell of %d is %d, want %d", actor, cells[actor], n)
		}
		return ""
	}
}

func atLeast(actor int, n byte) func([]byte) string {
	return func(cells []byte) string {
		if cells[actor] < n {
			return fmt.Sprintf("P5: the cell of %d is %d, want at least %d", actor, cells[actor], n)
		}
		return ""
	}
}

// counter: n clients increment one actor.
func counter(n int) scenario {
	x := scenario{name: "counter", partitions: 1, owners: 2, actors: []int{0}, methods: []method{increment, assign}, want: exactly(0, byte(n))}
	for range n {
		x.roots = append(x.roots, [2]int{0, 0})
	}
	return x
}

// callers: n actors of another partition call the counter.
func callers(n int) scenario {
	x := scenario{name: "callers", partitions: 2, owners: 2, actors: []int{0}, methods: []method{increment, assign, calls(0, 0)}, want: atLeast(0, byte(n))}
	for i := range n {
		x.actors = append(x.actors, 1)
		x.roots = append(x.roots, [2]int{i + 1, 2})
	}
	return x
}

// reentrant: main calls a task that calls back, beside other traffic.
func reentrant() scenario {
	return scenario{
		name: "reentrant", partitions: 2, owners: 2, actors: []int{0, 1},
		methods: []method{calls(1, 1), calls(0, 2), {{do: get}, {do: tailSelf, method: 3}}, assign},
		roots:   [][2]int{{0, 0}, {0, 2}}, want: atLeast(0, 2),
	}
}

// calleeTails: the callee tail-calls into the caller's actor.
func calleeTails() scenario {
	return scenario{
		name: "callee tails into caller", partitions: 2, owners: 2, actors: []int{0, 1, 0},
		methods: []method{calls(1, 1), {{tailOther, 2, 2}}, {{tailOther, 0, 3}}, {{do: get}, {do: tailSelf, method: 4}}, assign},
		roots:   [][2]int{{0, 0}, {0, 3}}, want: atLeast(0, 2),
	}
}

// chain: a root goes over three actors.
func chain(parts ...int) scenario {
	step := func(to, m int) method { return method{{do: get}, {do: set}, {tailOther, to, m}} }
	x := scenario{
		name: fmt.Sprint("chain ", parts), owners: 2, actors: parts, methods: []method{step(1, 1), step(2, 2), careless},
		roots: [][2]int{{0, 0}, {1, 1}},
		want: func(c []byte) string {
			if c[0] != 1 || c[1] != 2 || c[2] != 2 {
				return fmt.Sprintf("P5: cells %v", c)
			}
			return ""
		},
	}
	for _, p := range parts {
		x.partitions = max(x.partitions, p+1)
	}
	return x
}

// tailBack: over the own partition and back to the own actor.
func tailBack() scenario {
	return scenario{
		name: "tail back", partitions: 1, owners: 2, actors: []int{0, 0},
		methods: []method{{{tailOther, 1, 1}}, {{tailOther, 0, 2}}, {{tailOther, 0, 3}}, careless},
		roots:   [][2]int{{0, 0}, {0, 3}}, want: exactly(0, 2),
	}
}

// teller: two tells to another partition, one to the own.
func teller() scenario {
	return scenario{
		name: "tells", partitions: 2, owners: 2, actors: []int{0, 1, 0},
		methods: []method{{{tell, 1, 1}, {tell, 1, 1}, {tell, 2, 1}, {do: end}}, careless},
		roots:   [][2]int{{0, 0}},
		want: func(c []byte) string {
			if c[1] != 2 || c[2] != 1 {
				return fmt.Sprintf("P5: cells %v", c)
			}
			return ""
		},
	}
}

// siblings: main calls in parallel a task that calls back, and itself.
func siblings() scenario {
	return scenario{
		name: "siblings", partitions: 2, owners: 2, actors: []int{0, 1},
		methods: []method{{{call, 1, 1}, {call, 0, 2}, {do: await}, {do: end}}, calls(0, 2), {{do: get}, {do: tailSelf, method: 3}}, assign},
		roots:   [][2]int{{0, 0}}, want: atLeast(0, 2),
	}
}

// oneByOne: main awaits its calls one after the other, and computes between.
func oneByOne() scenario {
	x := siblings()
	x.name, x.actors = "one by one", []int{0, 1, 1}
	x.methods[0] = method{{call, 2, 4}, {call, 1, 1}, {do: awaitOne}, {call, 2, 4}, {do: await}, {do: end}}
	x.methods = append(x.methods, nothing)
	x.want = atLeast(0, 1)
	return x
}

// mutual: a calls itself, then b, then a, then b.
func mutual() scenario {
	return scenario{
		name: "mutual", partitions: 2, owners: 2, actors: []int{0, 1},
		methods: []method{calls(0, 1), calls(1, 2), calls(0, 3), calls(1, 4), careless}, roots: [][2]int{{0, 0}},
	}
}

// perishable: requests that may expire, one of which writes, then calls.
func perishable() scenario {
	return scenario{
		name: "perishable", partitions: 2, owners: 2, actors: []int{0, 1}, deadlines: true, cancels: true,
		methods: []method{calls(1, 1), {{do: get}, {do: set}, {call, 1, 2}, {do: await}, {do: end}}, nothing},
		roots:   [][2]int{{0, 0}, {1, 2}},
	}
}

// between: main writes between issuing a call and awaiting it.
func between() scenario {
	x := reentrant()
	x.name, x.roots = "writes between call and await", x.roots[:1]
	x.methods[0] = method{{call, 1, 1}, {do: get}, {do: set}, {do: await}, {do: end}}
	return x
}

// twoBack: two callbacks onto one actor, one of which has a call of its own.
func twoBack(tail bool) scenario {
	x := scenario{
		name: "two callbacks", partitions: 2, owners: 2, actors: []int{0, 1, 1, 1},
		methods: []method{
			{{call, 1, 1}, {call, 2, 2}, {do: await}, {do: end}}, calls(0, 3), calls(0, 4),
			{{do: get}, {do: set}, {call, 3, 5}, {do: await}, {do: end}}, careless, nothing,
		},
		roots: [][2]int{{0, 0}},
	}
	if tail {
		x.name = "two callbacks by tail call"
		x.methods[1], x.methods[2] = method{{tailOther, 0, 4}}, method{{tailOther, 0, 4}}
	}
	return x
}

// reminded: an actor sets its reminder, and a second request sets it again.
func reminded(at, again int) scenario {
	x := scenario{name: "reminder", partitions: 1, owners: 2, actors: []int{0}, ticks: 3, methods: []method{{{remind, at, 1}, {do: end}}, careless}, roots: [][2]int{{0, 0}}}
	if again >= 0 {
		x.methods = append(x.methods, method{{remind, again, 1}, {do: end}})
		x.roots = append(x.roots, [2]int{0, 2})
	}
	return x
}

// later: a tell that waits for its time, and one that does not.
func later() scenario {
	return scenario{
		name: "delayed tell", partitions: 2, owners: 2, actors: []int{0, 1}, ticks: 2,
		methods: []method{{{tellLater, 1, 1}, {tell, 1, 1}, {do: end}}, careless}, roots: [][2]int{{0, 0}},
	}
}

// ingress: three messages of a source topic.
func ingress() scenario {
	return scenario{name: "ingress", partitions: 1, owners: 2, actors: []int{0}, source: 3, methods: []method{increment, assign}, want: exactly(0, 3)}
}

func (x scenario) with(b budget) scenario { x.budget = b; return x }
func (x scenario) tries(n uint64) scenario {
	x.attempts, x.want = n, nil
	return x
}

func (x scenario) keyed(window, ticks int64, untils ...int64) scenario {
	x.untils, x.window, x.ticks, x.want = untils, window, ticks, nil
	return x
}
func (x scenario) slowly() scenario    { x.slow = true; return x }
func (x scenario) forwarded() scenario { x.forwards = true; return x }

// sound are the scenarios in which nothing may go wrong.
func sound() []scenario {
	return []scenario{
		counter(2).with(budget{crash: 1, zombie: 1}), counter(2).with(budget{zombie: 1, copies: 1, resends: 1}), counter(3).with(budget{crash: 2}),
		counter(1).with(budget{zombie: 2}).slowly(), callers(2).with(budget{crash: 1}), callers(1).with(budget{zombie: 1, copies: 1}),
		reentrant().with(budget{crash: 1}), reentrant().with(budget{zombie: 1, ackLost: 1}), reentrant().slowly(), calleeTails().with(budget{crash: 1}),
		chain(0, 1, 0).with(budget{crash: 1, resends: 1}), chain(0, 1, 0).with(budget{zombie: 1, ackLost: 1, sendFails: 1}).forwarded(), chain(0, 1, 2).with(budget{crash: 1}),
		tailBack().with(budget{crash: 1, zombie: 1, resends: 1}), teller().with(budget{crash: 1, sendFails: 1}).forwarded(), teller().with(budget{zombie: 1, copies: 1}),
		siblings().with(budget{crash: 1}), siblings().with(budget{zombie: 1}), siblings().with(budget{copies: 1, sendFails: 1}), siblings().slowly(),
		oneByOne().with(budget{crash: 1}), oneByOne().slowly(), mutual().with(budget{crash: 1}), mutual().with(budget{zombie: 1}),
		perishable().with(budget{crash: 1, expiries: 1}), perishable().with(budget{zombie: 1, expiries: 2}), perishable().with(budget{expiries: 1, copies: 1}).slowly(),
		between().with(budget{crash: 1}), between().with(budget{zombie: 1, copies: 1}), twoBack(false).with(budget{crash: 1}), twoBack(true).with(budget{crash: 1}),
		counter(1).with(budget{crash: 1, resends: 3}).keyed(1, 4, 0, 1, 2), chain(0, 1, 0).with(budget{resends: 3}).keyed(1, 4, 0, 1, 2),
		counter(1).with(budget{copies: 1, resends: 2}).keyed(1, 4, 0, 3, 1),
		counter(1).with(budget{crash: 4}).tries(2), counter(1).with(budget{crash: 2, zombie: 1, copies: 1, errors: 1}).tries(2), counter(1).with(budget{zombie: 1, copies: 2, errors: 3}).tries(2),
		callers(1).with(budget{crash: 2, errors: 1}).tries(1), siblings().with(budget{crash: 1, errors: 1}).tries(1), mutual().with(budget{crash: 3}).tries(1),
		reminded(1, -1).with(budget{crash: 1, zombie: 1, copies: 1}), reminded(1, 2).with(budget{crash: 1, copies: 1}), reminded(1, 0).with(budget{zombie: 1, copies: 1}),
		later().with(budget{crash: 1, copies: 1}), ingress().with(budget{crash: 1, zombie: 1}), ingress().with(budget{zombie: 1, copies: 1}),
	}
}
