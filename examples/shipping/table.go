package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

// spell is a time with so many kills, and what it was like for the clients.
type spell struct {
	name  string
	kills int

	killed    []time.Time
	latencies []time.Duration // from first placing an order to its receipt
	outages   []time.Duration // from a kill to the next receipt
}

// pass lets the process work through it.
func (s *spell) pass(ctx context.Context, with settings, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "backstay-shipping-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := drill.Drill{
		Dir: dir, Kills: s.kills, Least: 200 * time.Millisecond, Within: 450 * time.Millisecond, Out: out,
		Args: []string{
			"-orders", strconv.Itoa(with.orders), "-seed", strconv.FormatUint(with.seed, 10), "-pace", with.pace.String(),
		},
		Killed: func(at time.Time) { s.killed = append(s.killed, at) },
	}
	if _, err := d.Run(ctx); err != nil {
		return err
	}
	notes, err := readDiary(dir, with.orders)
	if err != nil {
		return err
	}
	s.measure(notes)
	return nil
}

func (s *spell) measure(notes []note) {
	answers := make([]time.Time, len(notes))
	for i, n := range notes {
		answers[i] = n.answered
		s.latencies = append(s.latencies, n.answered.Sub(n.placed))
	}
	slices.SortFunc(answers, time.Time.Compare)
	for _, at := range s.killed {
		i, _ := slices.BinarySearchFunc(answers, at, time.Time.Compare)
		if i < len(answers) { // else all was answered by then
			s.outages = append(s.outages, answers[i].Sub(at))
		}
	}
	slices.Sort(s.latencies)
	slices.Sort(s.outages)
}

// table says how long orders took, and how long nobody was answered.
func table(out io.Writer, spells []*spell) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\norders\tkills\thalf within\t9 of 10\t99 of 100\tall\t\n")
	for _, s := range spells {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t\n", len(s.latencies), len(s.killed),
			part(s.latencies, 50), part(s.latencies, 90), part(s.latencies, 99), part(s.latencies, 100))
	}
	_ = w.Flush() // the writer below has the errors
	for _, s := range spells {
		if len(s.outages) > 0 {
			fmt.Fprintf(out, "\nFrom a kill to the next receipt, the start of the new process included: %s at best, %s half the time, %s at worst.\n",
				part(s.outages, 0), part(s.outages, 50), part(s.outages, 100))
		}
	}
}

// part is what so many of a hundred are within.
func part(sorted []time.Duration, percent int) string {
	i := max((len(sorted)*percent+99)/100-1, 0)
	return fmt.Sprintf("%.1fms", float64(sorted[i].Microseconds())/1000)
}
