package simtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is the runtime with a rule taken out.
type mutant struct {
	rule  string
	file  string // below actors/internal
	edits [][2]string
}

func edit(rule, file string, edits ...[2]string) mutant { return mutant{rule, file, edits} }

var mutants = []mutant{
	edit("R2, R18: an own record is applied on its bare acknowledgement", "runtime/flight.go",
		[2]string{"if f.acked && f.place.Offset == inc.next {", "if f.acked {"}),
	edit("R3: an owner acts before its Takeover is applied", "runtime/claim.go",
		[2]string{"		inc.epoch = epoch\n		inc.own()\n	})\n", "	})\n	inc.epoch = epoch\n	inc.own()\n"}),
	edit("R7: it runs beside the children of a dead attempt", "machine/admission.go",
		[2]string{"case len(e.issued) > 0: // the children of a dead attempt come first (R7)", "case false:"}),
	edit("R9: without the stack", "machine/admission.go",
		[2]string{"return t == nil || e.descends(t.ID) && v.parked(t)", "return t == nil || t != nil"}),
	edit("R10: what was sent is dropped though it failed", "runtime/forward.go",
		[2]string{"	if g.err != nil {\n		s.failed(g)\n		return\n	}\n", ""}),
	edit("R21: the reader applies again what was applied", "runtime/apply.go",
		[2]string{"		case e.Offset < inc.next:\n			inc.compare(e)\n			continue\n		}\n", "		}\n"},
		[2]string{"		if e.Offset < inc.next {\n			inc.compare(e)\n			continue\n		}\n", ""}),
	edit("R27: what a predecessor may have run is not counted", "runtime/admit.go",
		[2]string{"	_, ok := inc.suspect[l]\n	return ok\n", "	return false\n"}),
	edit("R30: a method does not wait for its Begun", "runtime/admit.go",
		[2]string{"	a.fly(&record.Begun{Epoch: a.inc.epoch, Link: a.request.Link, Attempt: n}, func() {\n		a.request.Begun = true\n		inc.recorded = append(inc.recorded, a)\n	})\n",
			"	inc.append(&record.Begun{Epoch: a.inc.epoch, Link: a.request.Link, Attempt: n}, nil)\n	a.request.Begun = true\n	inc.run(a)\n"}),
	edit("R43, H4: what ran in part does not keep its actor", "machine/entry.go",
		[2]string{"return len(e.issued) > 0 || e.Held || e.Calls > 0", "return len(e.issued) > 0"}),
	edit("R48: Forwarded is recorded for what was only sent", "runtime/forward.go",
		[2]string{"	s.recorded = s.delivered\n	s.inc.try(&record.Forwarded{Epoch: s.inc.epoch, Dest: s.dest, Number: s.delivered}, nil)",
			"	s.recorded = s.delivered\n	s.inc.try(&record.Forwarded{Epoch: s.inc.epoch, Dest: s.dest, Number: s.delivered + uint64(s.sent)}, nil)"}),
	edit("H5: a callback joins a method that computes", "runtime/attempt.go",
		[2]string{"if (a.active <= 0 || a.over) && a.buffer.idle() {", "if a.buffer.idle() {"}),
	edit("H6: a caller resumes beside a callback", "runtime/await.go",
		[2]string{"return e != nil && a.inc.view.Resumes(e, nil)", "return e != nil"}),
	edit("H9: the log is cut off above its snapshot", "runtime/snapshot.go",
		[2]string{"Truncate(ctx, inc.partition, m.At)", "Truncate(ctx, inc.partition, m.At+1)"}),
	edit("H9: what has changed is not written", "runtime/snapshot.go",
		[2]string{"inc.cellar.Save(ctx, m, changes)", "inc.cellar.Save(ctx, m, changes[:0])"}),
	edit("H14: two sends that were turned round count as delivered", "runtime/forward.go",
		[2]string{"if p.letter == nil && p.offset <= s.last {", "if false {"}),
	edit("H15: ids of children are used again", "runtime/ids.go",
		[2]string{"record.ChildID(p, epoch, 0)", "record.ChildID(p, 1, 0)"}),
	edit("H19: the loser of a claim gives up", "runtime/owner.go",
		[2]string{"		if errors.Is(err, errDrained) || ctx.Err() != nil {", "		if errors.Is(err, errDrained) || errors.Is(err, errOutrun) || ctx.Err() != nil {"}),
	edit("2.5: who has lost a partition claims it again unasked", "runtime/owner.go",
		[2]string{"!o.confirmed(ctx, lost)", "lost < 0"}),
	edit("H13: a method ends while a call of its own is out", "runtime/finish.go",
		[2]string{"if c.Retry == nil && len(a.pending) == 0 {", "if c.Retry == nil {"}),
	edit("2.5: who reads another's Takeover goes on", "runtime/follow.go",
		[2]string{"if v == machine.Effective && r.Nonce != inc.nonce {", "if r.Epoch == 0 {"}),
	edit("2.5: outputs of a predecessor are not sent", "runtime/claim.go",
		[2]string{"	for o := range inc.state.Outputs() {\n		inc.output(o)\n	}\n", ""}),
}

// TestEveryMutantFitsTheCode: each rule is where its mutant takes it out. That it
// is missed then is shown with the tag soak, which takes long.
func TestEveryMutantFitsTheCode(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.rule, func(t *testing.T) { m.source(t) })
	}
}

// source is the file without the rule.
func (m *mutant) source(t *testing.T) (path, source string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source = string(text)
	for _, e := range m.edits {
		if strings.Count(source, e[0]) != 1 {
			t.Fatalf("%s has %d times:\n%s", m.file, strings.Count(source, e[0]), e[0])
		}
		source = strings.Replace(source, e[0], e[1], 1)
	}
	return path, source
}
