// Bank moves money between accounts, each an actor, in a process that is killed
// again and again. A transfer is a chain of tail calls: what takes the money off
// one account and what puts it into the other are two steps, and exactly one of
// them is left to do at any moment. No transaction spans the two, and no cent
// is lost or made.
//
//	go run ./examples/bank
//
// account.go is the bank.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bank:", err)
		os.Exit(1)
	}
}

func tell(ctx context.Context, out io.Writer) error {
	if dir := drill.Folder(); dir != "" {
		return work(ctx, dir, out)
	}
	fmt.Fprintf(out, "%d transfers between %d accounts, by a process that is killed:\n", transfers, accounts)
	d := drill.Drill{Kills: 8, Least: 60 * time.Millisecond, Within: 180 * time.Millisecond, Out: out}
	kills, err := d.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "It was killed %d times.\n", kills)
	return nil
}
