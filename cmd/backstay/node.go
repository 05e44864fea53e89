package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
)

// showNode writes how a node is, for people.
func showNode(out io.Writer, n *inspect.Node) error {
	owned, requests := 0, 0
	for i := range n.Partitions {
		requests += n.Partitions[i].Requests
		if n.Partitions[i].Phase == inspect.Owning {
			owned++
		}
	}
	fmt.Fprintln(out, share(n, owned))
	fmt.Fprintf(out, "requests %d, calls that wait for an answer %d, dead letters %d\n", requests, n.Calls, n.DeadLetters)
	if len(n.Members) > 0 {
		fmt.Fprintf(out, "members %s\n", strings.Join(n.Members, ", "))
	}
	if len(n.Partitions) == 0 {
		return nil
	}
	if err := showPartitions(out, n); err != nil {
		return err
	}
	return showMethods(out, n)
}

// share says in a sentence what the node has.
func share(n *inspect.Node, owned int) string {
	switch all := counted(len(n.Partitions), "partition"); {
	case n.Stopped && len(n.Partitions) == 0:
		return n.Name + " is drained: it has handed its partitions over, and takes no more."
	case n.Stopped:
		return fmt.Sprintf("%s is being drained: it has still to hand %s over.", n.Name, all)
	default:
		return fmt.Sprintf("%s owns %d of the %s that it was assigned.", n.Name, owned, all)
	}
}

// columns lines up what is separated by tabs, below an empty line.
func columns(out io.Writer, heads ...string) *tabwriter.Writer {
	const gap = 2
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, gap, ' ', 0)
	fmt.Fprintln(w, strings.Join(heads, "\t"))
	return w
}

func showPartitions(out io.Writer, n *inspect.Node) error {
	w := columns(out, "PARTITION", "PHASE", "EPOCH", "NEXT", "REQUESTS", "OLDEST", "DEEPEST", "OUTBOX", "TAKEOVER")
	for i := range n.Partitions {
		p := &n.Partitions[i]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%d\t%s\n",
			name(p), p.Phase, p.Epoch, p.Next, p.Requests, age(p.Oldest), deepest(p), p.Outputs, takeover(&p.Takeover))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range n.Partitions {
		if p := &n.Partitions[i]; p.Error != "" {
			fmt.Fprintf(out, "\n%s: %s\n", name(p), p.Error)
		}
	}
	return nil
}

// showMethods writes what runs, for longest first, and for whom it waits.
func showMethods(out io.Writer, n *inspect.Node) error {
	type method struct {
		actorType string
		inspect.Invocation
	}
	var running []method
	more := 0
	for i := range n.Partitions {
		p := &n.Partitions[i]
		for _, r := range p.Running {
			running = append(running, method{p.Type, r})
		}
		more += p.Methods - len(p.Running)
	}
	if len(running) == 0 {
		return nil
	}
	slices.SortStableFunc(running, func(a, b method) int { return cmp.Compare(b.Since, a.Since) })
	w := columns(out, "RUNNING", "REQUEST", "LINK", "ATTEMPT", "FOR", "WAITS FOR")
	for _, r := range running {
		fmt.Fprintf(w, "%s/%s.%s\t%s\t%d\t%d\t%s\t%s\n", r.actorType, r.ID, r.Method, r.RequestID, r.Link, r.Attempt, age(r.Since), orNone(strings.Join(r.Waiting, ", ")))
	}
	if more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	return w.Flush()
}

func name(p *inspect.Partition) string { return fmt.Sprintf("%s/%d", p.Type, p.Index) }

func deepest(p *inspect.Partition) string {
	if p.Depth == 0 {
		return orNone("")
	}
	return fmt.Sprintf("%s (%d)", p.Deepest, p.Depth)
}

// takeover tells how long the phases took; those that have not been told yet
// are no takeover.
func takeover(t *inspect.Takeover) string {
	whole := t.Snapshot + t.Replay + t.Fence
	if whole == 0 {
		return orNone("")
	}
	return fmt.Sprintf("%s: snapshot %s, replay %s of %s, fence %s",
		age(whole), age(t.Snapshot), age(t.Replay), counted(t.Records, "record"), age(t.Fence))
}

// age is a duration in as many digits as people want to read.
func age(d time.Duration) string {
	switch {
	case d == 0:
		return orNone("")
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
