package machine

import (
	"iter"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Each rule switched off alone. The machine has no switches for that: a mutant
// bends a record so that it gets past a guard, or the state, as if the rule
// were not there.
type ablation struct {
	rule string
	in   scenario
	mutant
}

// entryOf is the entry that a record is about.
func entryOf(s *State, l record.Link) *Entry { return s.Lookup(l.ID) }

// steps calls do for the steps of an outcome.
func steps(outcome record.Outcome, do func(s *State, r *record.Step, e *Entry)) func(s *State, r record.Record) {
	return func(s *State, r record.Record) {
		if r, ok := r.(*record.Step); ok && r.Outcome == outcome {
			if e := entryOf(s, r.Link); e != nil {
				do(s, r, e)
			}
		}
	}
}

// then is steps, after the record.
func then(outcome record.Outcome, do func(s *State, e *Entry, l record.Link)) func(s *State, r record.Record, fx *Effects) {
	return func(s *State, r record.Record, fx *Effects) {
		if r, ok := r.(*record.Step); ok && r.Outcome == outcome && fx.Void == Effective {
			do(s, entryOf(s, r.Link), r.Link)
		}
	}
}

// epochs calls do for records of owners.
func epochs(s *State, r record.Record) {
	switch r := r.(type) {
	case *record.Issued:
		r.Epoch = s.epoch
	case *record.Step:
		r.Epoch = s.epoch
	}
}

// bare is the decision if an entry had not what hide takes away.
func bare(hide func(e *Entry) (restore func())) func(v View, e *Entry) (Decision, uint64) {
	return func(v View, e *Entry) (Decision, uint64) {
		restore := hide(e)
		defer restore()
		return v.Decide(e)
	}
}

func hideIssued(e *Entry) func() {
	issued := e.issued
	e.issued = nil
	return func() { e.issued = issued }
}

func hideBegun(e *Entry) func() {
	begun := e.Begun
	e.Begun = false
	return func() { e.Begun = begun }
}

// queueOnly decides without the stack.
func queueOnly(v View, e *Entry) (Decision, uint64) {
	oldest := e.resident.oldest
	if v.Phase(e.ID) != Idle || len(e.issued) > 0 || e != oldest && !e.descends(oldest.ID) {
		return Wait, 0
	}
	return Run, e.Tries + 1
}

// hidingOthers decides as if no other entry of the actor had what hide takes.
func hidingOthers(hide func(e *Entry) func()) func(v View, e *Entry) (Decision, uint64) {
	return func(v View, e *Entry) (Decision, uint64) {
		var restore []func()
		for other := range v.State.Queue(e.Target.Actor) {
			if other != e {
				restore = append(restore, hide(other))
			}
		}
		d, n := v.Decide(e)
		for _, undo := range restore {
			undo()
		}
		return d, n
	}
}

func never(d Decision) func(v View, e *Entry) (Decision, uint64) {
	return func(v View, e *Entry) (Decision, uint64) {
		got, n := v.Decide(e)
		if got == d {
			got = Run
		}
		return got, n
	}
}

func single(x scenario) scenario {
	x.roots, x.want = x.roots[:1], nil
	return x
}

// all are the roots, in any order.
func (t *roots) all() iter.Seq[*root] {
	return func(yield func(*root) bool) {
		for _, s := range slices.Clone(t.index.slots) {
			if !s.empty() && !yield(t.at(s.thing-1)) {
				return
			}
		}
	}
}

func forgetRoot(s *State, id record.ID) {
	if r := s.roots.of(id); r != nil {
		s.roots.drop(r)
	}
}

// unprolonged puts every until back.
func unprolonged() mutant {
	untils := make(map[record.ID]int64)
	return mutant{
		before: func(s *State, _ record.Record) {
			clear(untils)
			for r := range s.roots.all() {
				untils[r.id] = r.until
			}
		},
		after: func(s *State, _ record.Record, _ *Effects) {
			for id, until := range untils {
				if r := s.roots.of(id); r != nil {
					r.until = until
				}
			}
		},
	}
}

func ablations() []ablation {
	kill := counter(1).with(budget{crash: 3}).tries(1)
	leaked := scenario{name: "leak", partitions: 2, owners: 2, actors: []int{0, 1}, methods: []method{{{call, 1, 1}, {do: end}}, nothing}, roots: [][2]int{{0, 0}}}
	busy := siblings() // main computes between its calls
	busy.methods[0] = method{{call, 1, 1}, {do: get}, {call, 0, 2}, {do: await}, {do: end}}
	return []ablation{
		{"R1 epochs", counter(1).with(budget{zombie: 1}), mutant{before: epochs}},
		{"R4 gaps are void", teller().with(budget{sendFails: 1}), mutant{before: func(s *State, r record.Record) {
			if m, ok := r.(*record.Mail); ok && m.Number > s.in[m.Source] {
				s.in[m.Source] = m.Number - 1
			}
		}}},
		{"R5 copies are void", teller().with(budget{ackLost: 1}), mutant{before: func(s *State, r record.Record) {
			if m, ok := r.(*record.Mail); ok && m.Number <= s.in[m.Source] {
				s.in[m.Source] = m.Number - 1
			}
		}}},
		{"R7 children of dead attempts come first", reentrant().with(budget{crash: 1}), mutant{decide: bare(hideIssued)}},
		{"R8 a step waits for children", leaked, mutant{leaks: true, before: steps(record.End, func(_ *State, _ *record.Step, e *Entry) { e.issued = nil })}},
		{"R9 the stack", siblings(), mutant{decide: queueOnly}},
		{"R11 the sequence number", counter(1).with(budget{copies: 1}), mutant{before: func(s *State, r record.Record) {
			if r, ok := r.(*record.Step); ok && entryOf(s, r.Link) != nil {
				r.Seq = entryOf(s, r.Link).Seq
			}
		}}},
		{"R12 a tail-self keeps its place", counter(2), mutant{after: then(record.TailSelf, func(s *State, e *Entry, _ record.Link) { s.leave(e); s.enter(e) })}},
		{"R13 all from the failed one on are sent again", teller().with(budget{sendFails: 1}), mutant{rewinds: true}},
		{"R14 callers travel with tails", calleeTails(), mutant{before: steps(record.TailOther, func(_ *State, _ *record.Step, e *Entry) { e.Ancestors = nil })}},
		{"R15 numbers of outputs are in snapshots", callers(1).with(budget{crash: 1}).forwarded(), mutant{after: func(s *State, r record.Record, _ *Effects) {
			if _, ok := r.(*record.Takeover); ok {
				for _, box := range s.out {
					box.last = uint64(len(box.waiting))
				}
			}
		}}},
		{"R16 numbers of inputs are in snapshots", callers(1).with(budget{crash: 1}), mutant{after: func(s *State, r record.Record, _ *Effects) {
			if _, ok := r.(*record.Takeover); ok {
				clear(s.in)
			}
		}}},
		{"H1 the home remembers", chain(0, 1, 0).with(budget{resends: 1}), mutant{after: then(record.TailOther, func(s *State, _ *Entry, l record.Link) { forgetRoot(s, l.ID) })}},
		{"H2 what is done is remembered", counter(1).with(budget{resends: 1}), mutant{after: then(record.End, func(s *State, _ *Entry, l record.Link) { forgetRoot(s, l.ID) })}},
		{"H3 the number of a call", single(reentrant()).with(budget{copies: 1}), mutant{before: func(s *State, r record.Record) {
			if r, ok := r.(*record.Issued); ok && entryOf(s, r.Link) != nil {
				r.Call = entryOf(s, r.Link).Calls
			}
		}}},
		{"H4 a tail-self holds its actor", siblings(), mutant{after: then(record.TailSelf, func(_ *State, e *Entry, _ record.Link) { e.Held = false })}},
		{"H5 only a parked one is joined", busy, mutant{phase: func(_ *attempt, p Phase) Phase {
			if p == Running {
				return Parked
			}
			return p
		}}},
		{"H6 a caller resumes on top only", oneByOne(), mutant{resumes: func(_ View, e *Entry, awaited []record.ID) bool {
			for _, id := range awaited {
				for _, c := range e.issued {
					if c.ID == id {
						return false
					}
				}
			}
			return true
		}}},
		{"H7 what has begun does not expire", perishable().with(budget{crash: 1, expiries: 2}), mutant{
			before: steps(record.DeadlinePassed, func(_ *State, _ *record.Step, e *Entry) { e.Begun = false }), decide: bare(hideBegun),
		}},
		{"H8 what is being expired does not begin", perishable().with(budget{expiries: 1}).slowly(), mutant{phase: func(_ *attempt, p Phase) Phase {
			if p == Resolving {
				return Idle
			}
			return p
		}}},
		{"H18 parked means empty hands", between(), mutant{noFlush: true}},
		{"R22 a later until prolongs", counter(1).with(budget{resends: 2}).keyed(1, 4, 0, 1, 2), unprolonged()},
		{"R23 done is kept for the window", counter(1).with(budget{resends: 2}).keyed(1, 4, 0, 1, 2), mutant{after: func(s *State, _ record.Record, _ *Effects) {
			for r := range s.roots.all() {
				if r.stage == answered && s.clock > r.until {
					s.roots.drop(r)
				}
			}
		}}},
		{"R25 lives", counter(1).with(budget{copies: 1, resends: 1}).keyed(1, 4, 0, 3), mutant{before: func(s *State, r record.Record) {
			if r, ok := r.(*record.Step); ok && entryOf(s, r.Link) != nil {
				r.Life = entryOf(s, r.Link).Life
			}
		}}},
		{"R26 attempts are in the state", kill, mutant{after: func(s *State, r record.Record, _ *Effects) {
			if _, ok := r.(*record.Takeover); ok {
				for _, actor := range s.Actors() {
					for e := range s.Queue(actor) {
						e.Tries = 0
					}
				}
			}
		}}},
		{"R27 suspects are recorded first", kill, mutant{decide: never(Record)}},
		{"R28 Begun counts", kill, mutant{after: func(s *State, r record.Record, fx *Effects) {
			if r, ok := r.(*record.Begun); ok && fx.Void == Effective {
				entryOf(s, r.Link).Tries--
			}
		}}},
		{"R29 Failed counts", counter(1).with(budget{errors: 3}).tries(1), mutant{after: func(s *State, r record.Record, fx *Effects) {
			if r, ok := r.(*record.Failed); ok && fx.Void == Effective {
				entryOf(s, r.Link).Tries--
			}
		}}},
		{"R30 a method waits for its Begun", counter(1).with(budget{crash: 1, zombie: 2}).tries(1), mutant{hasty: true}},
		{"R32 descendants are suspects", mutual().with(budget{crash: 3}).tries(1), mutant{suspect: func(s *State) []record.Link {
			var links []record.Link
			for _, actor := range s.Actors() {
				links = append(links, s.residents[actor].oldest.Link)
			}
			return links
		}}},
		{"H25 no Failed beside an Issued in flight", callers(1).with(budget{errors: 1}).tries(2), mutant{rash: true}},
		{"R34 the number of an attempt", counter(1).with(budget{copies: 1, errors: 1}).tries(2), mutant{before: func(s *State, r record.Record) {
			if r, ok := r.(*record.Failed); ok && entryOf(s, r.Link) != nil {
				r.Attempt = entryOf(s, r.Link).Tries + 1
			}
		}}},
		{"R37 poison", kill, mutant{decide: never(GiveUp)}},
		{"R38 the tick of a Fire", reminded(1, 2).with(budget{copies: 1}), mutant{before: func(s *State, r record.Record) {
			if r, ok := r.(*record.Fire); ok {
				if s.reminders[r.Target.Actor][r.Name] == nil {
					s.reminders[r.Target.Actor] = map[string]*Reminder{r.Name: {record.Reminder{Name: r.Name, Method: "1"}}}
				}
				s.reminders[r.Target.Actor][r.Name].Next = r.Tick
			}
		}}},
		{"R43 what ran in part keeps its actor", twoBack(false).with(budget{crash: 1}), mutant{decide: hidingOthers(func(e *Entry) func() {
			n := e.Calls
			e.Calls = 0
			return func() { e.Calls = n }
		})}},
		{"R44 but not what has begun", twoBack(true), mutant{decide: hidingOthers(func(e *Entry) func() {
			held := e.Held
			e.Held = held || e.Begun
			return func() { e.Held = held }
		})}},
		{"R46 bulk expiry spares what has begun", perishable().with(budget{crash: 1, expiries: 1}), mutant{
			before: func(s *State, r record.Record) {
				if r, ok := r.(*record.Expired); ok {
					for _, l := range r.Links {
						if e := entryOf(s, l); e != nil {
							e.Begun = false
						}
					}
				}
			},
			decide: bare(hideBegun),
		}},
		{"R47, R48 an Ingest fits exactly", ingress().with(budget{copies: 1}), mutant{before: func(s *State, r record.Record) {
			if r, ok := r.(*record.Ingest); ok {
				s.ingress[source{r.Topic, r.TopicPartition}] = r.From
			}
		}}},
	}
}

func TestEveryRuleIsMissedWhenItIsGone(t *testing.T) {
	const limit = 20_000 // states
	for _, a := range ablations() {
		t.Run(a.rule, func(t *testing.T) {
			x := a.in
			x.mutant = a.mutant
			f := x.explore(limit)
			if f.fault == "" {
				t.Fatalf("not missed in %d states", f.states)
			}
			t.Logf("%d states, %d moves: %s", f.states, len(f.trace), f.fault)
		})
	}
}
