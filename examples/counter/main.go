// Counter adds one to three counters, many times, in a process that is killed
// again and again. Each addition is asked for until it is answered, with an
// idempotency key, as a client should.
//
// The first counter is an actor's own value. The other two are files, which
// know nothing of actors: one is written in a tail call, one in the same breath
// in which it was read. At the end two of them are right.
//
//	go run ./examples/counter
//
// Look at counter.go: that is all there is to it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

// additions to each counter.
const additions = 150

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "counter:", err)
		os.Exit(1)
	}
}

// tell works, if this is the process that does, or has it killed.
func tell(ctx context.Context, out io.Writer) error {
	if dir := drill.Folder(); dir != "" {
		return work(ctx, dir, out)
	}
	fmt.Fprintf(out, "%d additions to each of three counters, by a process that is killed:\n", additions)
	d := drill.Drill{Kills: 8, Least: 60 * time.Millisecond, Within: 200 * time.Millisecond, Out: out}
	kills, err := d.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "It was killed %d times.\n", kills)
	return nil
}
