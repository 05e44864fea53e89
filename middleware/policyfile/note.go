package policyfile

import (
	"fmt"
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

// Notes returns what is allowed but perhaps not meant, in the order of the
// targets' names.
func (p *Policies) Notes() []Note { return append([]Note(nil), p.notes...) }

// note returns the notes on one target.
func (p *Policies) note(d *definition) []Note {
	t := p.targets[d.name]
	w := WorstCaseOf(*t.Target)
	var all []Note
	say := func(format string, args ...any) {
		all = append(all, Note{File: p.file, Line: d.at.line, Column: d.at.column, Path: d.at.path, Text: fmt.Sprintf(format, args...)})
	}
	if w.Fit < w.Attempts {
		say("only %d of %d attempts fit into the total of %s where each runs into its timeout", w.Fit, w.Attempts, writeDuration(w.Time))
	}
	if budgeted, on := t.value("retry.budget.ratio"); t.Target.Retry != nil && w.Attempts > 1 && (!on || budgeted >= 0.5) {
		say("retries may make an outage worse by %gx: keep the budget near 10%%", w.Share)
	}
	return all
}
