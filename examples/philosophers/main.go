// Philosophers sit round a table, a fork between any two. Who eats needs both
// forks beside him, and eats so and so often. Philosophers and forks are
// actors, which only ever tell one another things, in a process that is killed
// again and again.
//
// Two things must not happen, whenever the process dies: that a fork is in two
// hands, and that all wait for ever. The first is the forks' own business: a
// fork knows who has it, and hands itself on in the step that takes it back.
// The second is that of the order in which forks are taken. Neither is
// anybody's business who thinks about failures: nobody does.
//
//	go run ./examples/philosophers
//
// philosopher.go and fork.go are all there is to it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

const (
	philosophers = 7
	meals        = 60 // each
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "philosophers:", err)
		os.Exit(1)
	}
}

func tell(ctx context.Context, out io.Writer) error {
	if dir := drill.Folder(); dir != "" {
		return work(ctx, dir, out)
	}
	fmt.Fprintf(out, "%d philosophers eat %d times each, in a process that is killed:\n", philosophers, meals)
	d := drill.Drill{Kills: 8, Least: 50 * time.Millisecond, Within: 120 * time.Millisecond, Out: out}
	kills, err := d.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "It was killed %d times.\n", kills)
	return nil
}
