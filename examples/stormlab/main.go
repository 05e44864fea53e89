// Stormlab shows what retries, copies and breakers do to a service in trouble,
// by simulation: minutes of virtual time in seconds, the same numbers for the
// same seed.
//
//	go run ./examples/stormlab
//
// It prints tables and, into the folder of -out, draws figures; docs/storms.md is
// made of them:
//
//	jitter    clients contend for one row, with four ways to wait
//	layers    what reaches the last of several services that all retry
//	hedging   what copies of slow reads cost, and what they win
//	recovery  how long a server stays down after an outage
//
// The decisions are those of the real policies, which take the time, or how
// long something took, as an argument: retry.Policy.Next and Backoff, the retry
// budget, breaker.Trip, hedge.Plan. What is simulated is the rest of the world.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "", "folder for the figures (none are drawn if empty)")
	seed := flag.Uint64("seed", 1, "what all chance comes from")
	docs := flag.String("docs", "", "folder whose storms.md and img are to be brought up to date")
	flag.Parse()
	if err := run(os.Stdout, *out, *docs, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "stormlab:", err)
		os.Exit(1)
	}
}

// run runs all studies, and tells and draws what came out.
func run(w io.Writer, out, docs string, seed uint64) error {
	l, err := study(seed)
	if err != nil {
		return err
	}
	if docs != "" {
		return l.publish(docs)
	}
	return l.tell(w, out)
}

// tell prints the tables, and puts the figures into a folder, if one is named.
func (l *lab) tell(w io.Writer, out string) error {
	tables := l.tables()
	for _, name := range names {
		fmt.Fprintf(w, "%s\n\n%s\n", name, tables[name])
	}
	if out == "" {
		fmt.Fprintln(w, "for the figures, name a folder with -out")
		return nil
	}
	if err := errors.Join(os.MkdirAll(out, 0o755), l.save(out)); err != nil { //nolint:gosec // to be read by everybody
		return err
	}
	fmt.Fprintln(w, "figures in", out)
	return nil
}

// publish brings the documentation up to date.
func (l *lab) publish(docs string) error {
	name := filepath.Join(docs, "storms.md")
	page, err := os.ReadFile(name) //nolint:gosec // the folder is the user's to name
	if err != nil {
		return err
	}
	text, err := l.document(string(page))
	if err != nil {
		return err
	}
	img := filepath.Join(docs, "img")
	return errors.Join(
		os.MkdirAll(img, 0o755),                 //nolint:gosec // to be read by everybody
		os.WriteFile(name, []byte(text), 0o644), //nolint:gosec // to be read by everybody
		l.save(img),
	)
}
