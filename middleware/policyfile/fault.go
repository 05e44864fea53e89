package policyfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrInvalid is matched, through errors.Is, by every [*Error].
var ErrInvalid = errors.New("policyfile: file has faults")

// Fault is one fault of a file: where, what, and what to write instead.
type Fault struct { //nolint:errname // it is one fault of an Error
	// File is the name that the file was given; Line and Column count from 1,
	// columns in characters. Line is 0 where no line is to blame.
	File         string
	Line, Column int
	// Path leads to the value, for example "targets.payments.retry.base". It
	// is empty for faults of the file's syntax.
	Path string
	// Reason says what is wrong, Suggestion what to write instead; there may
	// be none.
	Reason, Suggestion string
}

// Error reads file:line:column: path: reason (suggestion).
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(place{f.File, f.Line, f.Column}.String())
	if f.Path != "" {
		b.WriteString(": " + f.Path)
	}
	b.WriteString(": " + f.Reason)
	if f.Suggestion != "" {
		b.WriteString(" (" + f.Suggestion + ")")
	}
	return b.String()
}

// Error is every fault of a file, in the order of the file.
type Error struct {
	Faults []Fault
}

// Error lists the faults, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i := range e.Faults {
		lines[i] = e.Faults[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Is matches [ErrInvalid].
func (e *Error) Is(target error) bool { return target == ErrInvalid }

// Unwrap returns the faults, each a [*Fault].
func (e *Error) Unwrap() []error {
	all := make([]error, len(e.Faults))
	for i := range e.Faults {
		all[i] = &e.Faults[i]
	}
	return all
}

// place is a position in a file.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return p.file + ":" + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column)
}

// faults collects what is wrong with one file. A profile is read once for each
// target that extends it, so the same fault may come several times.
type faults struct {
	file string
	all  map[Fault]bool
}

func (c *faults) add(at spot, suggestion, format string, args ...any) {
	if c.all == nil {
		c.all = make(map[Fault]bool)
	}
	c.all[Fault{
		File: c.file, Line: at.line, Column: at.column, Path: at.path,
		Reason: fmt.Sprintf(format, args...), Suggestion: suggestion,
	}] = true
}

// err returns the faults in the order of the file; nil if there are none.
func (c *faults) err() error {
	if len(c.all) == 0 {
		return nil
	}
	e := &Error{}
	for f := range c.all {
		e.Faults = append(e.Faults, f)
	}
	slices.SortFunc(e.Faults, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason),
		)
	})
	return e
}

// spot is where a value stands in the file, and what it is called there.
type spot struct {
	line, column int
	path         string
}

// under returns the spot's path with name added.
func (s spot) under(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}
