package policyfile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/backstay-go/backstay/middleware"
)

// Explain writes what each of the named targets comes to, or each of them all:
// every value, where it comes from, and the load that the target makes in the
// worst case; without names also the server, whose name here is server unless a
// target is called so. Its error is that of w, or says that there is no such
// target.
func (p *Policies) Explain(w io.Writer, names ...string) error {
	all, err := p.chosen(names)
	for i, c := range all {
		if err == nil && i > 0 {
			_, err = fmt.Fprintln(w)
		}
		if err == nil {
			err = p.explain(w, c.d, c.t)
		}
	}
	if err != nil {
		return fmt.Errorf("policyfile: %w", err)
	}
	return nil
}

// chosen is what is to be explained.
type chosen struct {
	d *definition
	t *resolved
}

// chosen returns what names stand for; without any everything.
func (p *Policies) chosen(names []string) (all []chosen, err error) {
	server := chosen{p.serverDefined, p.server}
	if len(names) == 0 {
		for _, name := range p.Names() {
			all = append(all, chosen{p.defined[name], p.targets[name]})
		}
		if p.server != nil {
			all = append(all, server)
		}
		return all, nil
	}
	for _, name := range names {
		switch t, ok := p.targets[name]; {
		case ok:
			all = append(all, chosen{p.defined[name], t})
		case name == defaultServer && p.server != nil:
			all = append(all, server)
		default:
			return nil, p.unknown(name)
		}
	}
	return all, nil
}

func (p *Policies) explain(w io.Writer, d *definition, t *resolved) error {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	what := "target " + d.name
	if t.Server != nil {
		what = "server"
	}
	fmt.Fprintf(table, "%s\t\t%s:%d\n", what, p.file, d.at.line)
	fmt.Fprintf(table, "  extends\t%s\t\n", strings.Join(t.extends, " < "))
	for _, m := range d.patterns {
		fmt.Fprintf(table, "  match\t%s\t%s:%d\n", m, p.file, m.at.line)
	}
	for _, s := range t.root.fields {
		p.explainSection(table, t, s, "  ")
	}
	if t.Target != nil {
		p.explainWorst(table, WorstCaseOf(*t.Target))
	}
	for _, n := range p.note(d, t) {
		fmt.Fprintf(table, "  note: %s\n", n.Text)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// explainSection writes a value, or a section and what is in it.
func (p *Policies) explainSection(w io.Writer, t *resolved, s *shape, indent string) {
	v := t.in(s)
	switch {
	case s.kind == faultList:
		p.explainFaults(w, t, indent)
	case s.kind != section:
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", indent, s.name, t.shown(s), p.source(t, s.path, "default"))
	case s.absent && v.IsNil(), s.toggle != nil && v.FieldByIndex(s.toggle).Bool():
		fmt.Fprintf(w, "%s%s\toff\t%s\n", indent, s.name, p.source(t, s.path, ""))
	default:
		fmt.Fprintf(w, "%s%s\t\t%s\n", indent, s.name, p.source(t, s.path, ""))
		for _, f := range s.fields {
			p.explainSection(w, t, f, indent+"  ")
		}
	}
}

// explainFaults writes what is set of each fault.
func (p *Policies) explainFaults(w io.Writer, t *resolved, indent string) {
	for i := range t.Target.Faults {
		x, item := ofFault(&t.Target.Faults[i]), fmt.Sprintf("faults[%d]", i)
		fmt.Fprintf(w, "%s%s\t\t%s\n", indent, item, p.source(t, item, ""))
		faultRoot.each(func(s *shape) {
			if s != faultRoot && s.kind != section && !x.in(s).IsZero() {
				fmt.Fprintf(w, "%s  %s\t%s\t%s\n", indent, s.path, x.shown(s), p.source(t, item+"."+s.path, ""))
			}
		})
	}
}

// source says where the value at path comes from.
func (p *Policies) source(t *resolved, path, otherwise string) string {
	o, known := t.origins[path]
	switch {
	case !known:
		return otherwise
	case o.line == 0:
		return "built-in " + o.profile
	case o.profile != "":
		return fmt.Sprintf("%s:%d (%s)", p.file, o.line, o.profile)
	default:
		return fmt.Sprintf("%s:%d", p.file, o.line)
	}
}

// explainWorst writes the load of the worst case.
func (p *Policies) explainWorst(w io.Writer, c WorstCase) {
	fmt.Fprintf(w, "  worst case\t\t\n")
	fmt.Fprintf(w, "    one call\t%s\t\n", c.oneCall())
	fmt.Fprintf(w, "    an outage\t%.4g requests a call%s\t\n", c.Share, c.burst())
	for n := 2; n <= 3; n++ {
		naive, bounded := c.Layers(n)
		fmt.Fprintf(w, "    %d such layers\t%.4g requests a call (%.6g without budgets)\t\n", n, bounded, naive)
	}
}

// burst says what comes on top of the share.
func (w WorstCase) burst() string {
	if w.Burst == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more once", w.Burst)
}

// oneCall says what one call costs at most.
func (w WorstCase) oneCall() string {
	s := fmt.Sprintf("%d x %d = %d requests", w.Attempts, w.Copies, w.Requests())
	if w.Copies == 1 {
		s = fmt.Sprintf("%d requests", w.Requests())
	}
	if w.Time > 0 {
		s += ", at most " + writeDuration(w.Time)
	}
	return s
}

// Explain writes what t comes to, as [Policies.Explain] does, for a target that
// is not of a file.
func Explain(w io.Writer, t middleware.Target) error {
	p := &Policies{file: "code"}
	t = clone(t)
	return p.explain(w, &definition{name: t.Name}, resolvedTarget(&t, "code"))
}
