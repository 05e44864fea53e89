package policyfile

import (
	"fmt"
	"time"
)

// Note is something that is allowed, but that whoever wrote the file may not
// have meant.
type Note struct {
	// File, Line, Column and Path are where; see [Fault].
	File         string
	Line, Column int
	Path         string
	// Text says what.
	Text string
}

// String reads file:line:column: path: text.
func (n Note) String() string {
	return place{n.File, n.Line, n.Column}.String() + ": " + n.Path + ": " + n.Text
}

// Notes returns what is allowed but perhaps not meant: of the targets, in order
// of their names, and of the server.
func (p *Policies) Notes() []Note { return append([]Note(nil), p.notes...) }

// noter says what is to be noted of a target, or of the server.
type noter struct {
	*resolved
	of   *definition
	file string
	all  []Note
}

// note returns the notes on t, which is what d comes to.
func (p *Policies) note(d *definition, t *resolved) []Note {
	n := &noter{resolved: t, of: d, file: p.file}
	if t.Target != nil {
		n.worst()
		n.faults(time.Now())
	} else if name := t.Server.Name; p.targets[name] != nil {
		n.say(n.of.at, "it has the name of a target, %s: logs and metrics do not tell them apart", name)
	}
	n.adapts()
	return n.all
}

func (n *noter) say(at spot, format string, args ...any) {
	n.all = append(n.all, Note{File: n.file, Line: at.line, Column: at.column, Path: at.path, Text: fmt.Sprintf(format, args...)})
}

// worst notes what is unfortunate about the worst case.
func (n *noter) worst() {
	w := WorstCaseOf(*n.Target)
	if w.Fit < w.Attempts {
		n.say(n.of.at, "only %d of %d attempts fit into the total of %s where each runs into its timeout", w.Fit, w.Attempts, writeDuration(w.Time))
	}
	if budgeted, on := n.value("retry.budget.ratio"); n.Target.Retry != nil && w.Attempts > 1 && (!on || budgeted >= 0.5) {
		n.say(n.of.at, "retries may make an outage worse by %gx: keep the budget near 10%%", w.Share)
	}
}

// faults notes those whose time has passed, and of the others where they act.
func (n *noter) faults(now time.Time) {
	ahead := false
	for i := range n.Target.Faults {
		f := &n.Target.Faults[i]
		at, said := n.origins[fmt.Sprintf("faults[%d].until", i)]
		if said && !now.Before(f.Until) {
			n.say(at.spot, "fault %s of target %s is over: nothing is injected any longer", f.Name, n.Target.Name)
			continue
		}
		ahead = true
	}
	if ahead {
		n.say(n.of.at, "its faults act only in programs with an injector of package chaos below its policies")
	}
}

// adapts notes a limit that is written, and yet only where the limit begins.
func (n *noter) adapts() {
	limit, written := n.origins["bulkhead.limit"]
	section := n.origins["bulkhead.adaptive"]
	if !written || limit.line == 0 || section.line > 0 || n.root.under("bulkhead.adaptive") == nil {
		return
	}
	begins, _ := n.value("bulkhead.limit")
	if _, adaptive := n.value("bulkhead.adaptive.min"); adaptive {
		n.say(limit.spot, "the limit of %g is only where it begins, since %s has the bulkhead adapt it: write adaptive: off for a fixed one", begins, section.profile)
	}
}
