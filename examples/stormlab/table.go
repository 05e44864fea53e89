package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// tables returns the tables of the studies in Markdown, by name.
func (l *lab) tables() map[string]string {
	return map[string]string{
		"jitter": l.tableJitter(), "layers": l.tableLayers(), "hedging": l.tableHedging(), "recovery": l.tableRecovery(),
	}
}

// names is the order of the studies.
var names = []string{"jitter", "layers", "hedging", "recovery"}

// table is written row by row.
type table struct{ text strings.Builder }

func newTable(head ...string) *table {
	t := new(table)
	t.row(head...)
	t.line("---" + strings.Repeat("|--:", len(head)-1))
	return t
}

func (t *table) row(cells ...string) { t.line(" " + strings.Join(cells, " | ") + " ") }

// line writes what stands between the outer bars.
func (t *table) line(between string) { fmt.Fprintf(&t.text, "|%s|\n", between) }

func (t *table) String() string { return t.text.String() }

func (l *lab) tableJitter() string {
	t := newTable("jitter", "calls, 50 clients", "done after", "calls, 200 clients", "done after")
	for _, s := range spreads {
		few, many := l.jitter[s.name][2], l.jitter[s.name][len(crowds)-1]
		t.row(s.name, round(few.calls), seconds(few.done), round(many.calls), seconds(many.done))
	}
	return t.String()
}

func (l *lab) tableLayers() string {
	head := []string{"layers that retry"}
	for i := range deepest {
		head = append(head, strconv.Itoa(i+1))
	}
	t := newTable(head...)
	for _, m := range manners {
		cells := []string{m.name}
		for _, reached := range l.layers[m.name] {
			cells = append(cells, times(reached))
		}
		t.row(cells...)
	}
	return t.String()
}

func (l *lab) tableHedging() string {
	t := newTable("copy is sent after", "copies", "replicas busy", "p50", "p99", "p99.9")
	for _, a := range l.hedging {
		t.row(a.name, percent(a.extra), percent(a.load), millis(a.p50), millis(a.p99), millis(a.p999))
	}
	return t.String()
}

func (l *lab) tableRecovery() string {
	head := []string{"callers have"}
	for _, d := range outages {
		head = append(head, fmt.Sprintf("well again after %.0fs of outage", d.Seconds()))
	}
	t := newTable(append(head, "attempts a second after the 60s")...)
	for _, s := range shields {
		r := l.recovery[s.name]
		cells := []string{s.name}
		for _, d := range r.after {
			if d == aftermath {
				cells = append(cells, "not in 5 minutes")
			} else {
				cells = append(cells, seconds(d))
			}
		}
		t.row(append(cells, round(r.load))...)
	}
	return t.String()
}

func round(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + "s" }

func millis(d time.Duration) string { return round(float64(d)/float64(time.Millisecond)) + "ms" }

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

// times says how many attempts there were for one call of a user.
func times(reached int) string {
	return strconv.FormatFloat(float64(reached)/userCalls, 'g', 3, 64) + "x"
}
