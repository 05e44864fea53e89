package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Line says when something is due. Make it with [Parse]. It is immutable.
type Line struct {
	minute, hour, day, month, weekday set
	everyHour                         bool // the hour begins with *
	eitherDay                         bool // both days are restricted: one is enough
}

// set has the values of a field, one a bit.
type set uint64

func (s set) has(v int) bool { return s&(1<<v) != 0 }

// field is what a field may have.
type field struct {
	name     string
	from, to int
	words    []string // for the first values
}

var fields = [5]field{
	{name: "minute", from: 0, to: 59},
	{name: "hour", from: 0, to: 23},
	{name: "day of month", from: 1, to: 31},
	{name: "month", from: 1, to: 12, words: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{name: "day of week", from: 0, to: 7, words: strings.Fields("sun mon tue wed thu fri sat")},
}

// Parse reads a line. It refuses one that is never due, such as a 30th of
// February.
func Parse(text string) (Line, error) {
	words := strings.Fields(text)
	if len(words) != len(fields) {
		return Line{}, fmt.Errorf("a cron line has 5 fields (minute, hour, day, month, weekday), %q has %d", text, len(words))
	}
	var sets [len(fields)]set
	for i, f := range fields {
		var err error
		if sets[i], err = f.parse(strings.ToLower(words[i])); err != nil {
			return Line{}, fmt.Errorf("cron line %q: %s: %w", text, f.name, err)
		}
	}
	l := Line{minute: sets[0], hour: sets[1], day: sets[2], month: sets[3], weekday: sets[4]}
	if l.weekday.has(7) {
		l.weekday |= 1
	}
	l.everyHour = words[1][0] == '*'
	l.eitherDay = words[2][0] != '*' && words[4][0] != '*'
	if !l.possible() {
		return Line{}, fmt.Errorf("cron line %q is never due: none of its months has such a day", text)
	}
	return l, nil
}

// possible reports whether some month has one of the days.
func (l *Line) possible() bool {
	if l.eitherDay {
		return true
	}
	longest := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	first := bits.TrailingZeros64(uint64(l.day))
	for month, days := range longest {
		if l.month.has(month) && first <= days {
			return true
		}
	}
	return false
}

// parse reads a list.
func (f field) parse(text string) (set, error) {
	var all set
	for part := range strings.SplitSeq(text, ",") {
		s, err := f.part(part)
		if err != nil {
			return 0, err
		}
		all |= s
	}
	return all, nil
}

// part reads *, a value, or a range, with a step or without.
func (f field) part(text string) (set, error) {
	span, stepText, stepped := strings.Cut(text, "/")
	from, to, err := f.span(span)
	if err != nil {
		return 0, err
	}
	step := 1
	if stepped {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.to {
			return 0, fmt.Errorf("the step %q must be a number from 1 to %d", stepText, f.to)
		}
		if from == to {
			return 0, fmt.Errorf("%q: a step needs a range, or *", text)
		}
	}
	var s set
	for v := from; v <= to; v += step {
		s |= 1 << v
	}
	return s, nil
}

func (f field) span(text string) (from, to int, err error) {
	if text == "*" {
		return f.from, f.to, nil
	}
	low, high, ranged := strings.Cut(text, "-")
	if from, err = f.value(low); err != nil || !ranged {
		return from, from, err
	}
	to, err = f.value(high)
	if to == 0 && f.to == 7 { // a range that ends with Sunday
		to = 7
	}
	if err == nil && to < from {
		err = fmt.Errorf("the range %q ends before it begins", text)
	}
	return from, to, err
}

func (f field) value(text string) (int, error) {
	for i, word := range f.words {
		if text == word {
			return f.from + i, nil
		}
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < f.from || v > f.to || text[0] == '+' {
		return 0, fmt.Errorf("%q is no number from %d to %d", text, f.from, f.to)
	}
	return v, nil
}
