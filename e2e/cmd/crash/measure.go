package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func partition(typ string, index int) string { return fmt.Sprintf("%s/%d", typ, index) }

// every partition there is.
func everything() (all []string) {
	for _, t := range types {
		for i := range partitions {
			all = append(all, partition(t, i))
		}
	}
	return all
}

// longest returns the call within a span that has waited longest in it.
func longest(calls []call, from, to time.Time) (worst call, wait time.Duration) {
	for _, c := range calls {
		if c.end.Before(from) || c.begin.After(to) {
			continue
		}
		if w := c.end.Sub(later(c.begin, from)); w > wait {
			worst, wait = c, w
		}
	}
	return worst, wait
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// gap is the longest wait in a span, of any of these partitions.
func (s *scene) gap(of []string, from, to time.Time) (wait time.Duration) {
	for _, p := range of {
		for _, c := range s.calls[p] {
			if c.end.After(to) {
				c.end = to
			}
			wait = max(wait, c.end.Sub(later(c.begin, from)))
		}
	}
	return wait
}

// outage is what a failure was like for the partitions of those who failed.
type outage struct {
	last   string // the partition that was answered for last
	over   time.Time
	total  time.Duration
	phases phases
}

// phases are the parts of the time until the last partition answered.
type phases struct {
	Detection    time.Duration `json:"detection"`    // until somebody has removed the dead from the group
	Reassignment time.Duration `json:"reassignment"` // until another begins to take over
	Snapshot     time.Duration `json:"snapshot"`
	Replay       time.Duration `json:"replay"`
	Fence        time.Duration `json:"fence"`
	Answer       time.Duration `json:"answer"` // from owning to the first answer
}

// outage measures from a failure to the answer of the last of some partitions.
func (s *scene) outage(of, victims []string, from, to time.Time) (o outage) {
	o.over = from
	for _, p := range of {
		if c, _ := longest(s.calls[p], from, to); c.end.After(o.over) {
			o.last, o.over = p, c.end
		}
	}
	o.total = o.over.Sub(from)
	owned := slices.IndexFunc(s.events, func(l line) bool {
		return l.What == "partition owned" && l.Key == o.last && l.Time.After(from)
	})
	if owned < 0 {
		return o
	}
	for i, l := range s.events { // of several owners, the last before the answer
		if i > owned && l.What == "partition owned" && l.Key == o.last && l.Time.Before(o.over) {
			owned = i
		}
	}
	o.phases = s.phases(s.events[owned], victims, from)
	o.phases.Answer = o.over.Sub(s.events[owned].Time)
	return o
}

// phases splits the time from a failure to when somebody owned a partition.
func (s *scene) phases(owned line, victims []string, from time.Time) (p phases) {
	claimed := owned.Time.Add(-owned.Elapsed)
	removed := claimed // if nobody tells
	if i := slices.IndexFunc(s.events, func(l line) bool {
		return l.What == "member evicted" && l.Time.After(from) && l.Time.Before(claimed) && isOneOf(l.Instance, victims)
	}); i >= 0 {
		removed = s.events[i].Time
	}
	p.Detection, p.Reassignment = removed.Sub(from), claimed.Sub(removed)
	for _, l := range s.events {
		if l.What == "takeover phase" && l.Key == owned.Key && l.from == owned.from && !l.Time.Before(owned.Time) && l.Time.Sub(owned.Time) < time.Second {
			switch l.Reason {
			case "snapshot":
				p.Snapshot = l.Elapsed
			case "replay":
				p.Replay = l.Elapsed
			case "fence":
				p.Fence = l.Elapsed
			}
		}
	}
	return p
}

// isOneOf reports whether an instance is one of processes with these names.
func isOneOf(instance string, names []string) bool { return nameOf(instance, names) != "" }

// nameOf is the one of these names that an instance is of.
func nameOf(instance string, names []string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(instance, n+"-") }); i >= 0 {
		return names[i]
	}
	return ""
}

// wronged are those who were removed from the group though they are no victims.
// A victim is removed once: what comes back is another instance.
func (s *scene) wronged(victims []string, from, to time.Time) (all []string) {
	dead := make(map[string]string) // of each victim, the instance that has failed
	for _, l := range s.events {
		if l.What != "member evicted" && l.What != "member removed" || !l.Time.After(from) || !l.Time.Before(to) {
			continue
		}
		name := nameOf(l.Instance, victims)
		if name != "" && dead[name] == "" {
			dead[name] = l.Instance
		}
		if name == "" || dead[name] != l.Instance {
			all = append(all, fmt.Sprintf("%s: %s of %s (%s)", l.from.name, l.What, l.Instance, l.Reason))
		}
	}
	return all
}
