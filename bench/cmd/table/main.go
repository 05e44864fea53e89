// Table measures Backstay beside other libraries and writes what it found into
// the README:
//
//	go run ./cmd/table -rounds 5 -readme ../README.md
//
// It runs every benchmark of the module once a round, so that all libraries
// meet the same moods of the machine, and takes the median of the rounds. It
// then compares the medians with the targets that the project has set itself
// and says which are met; a target that is missed is told, and fails nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/backstay-go/backstay/bench/internal/marked"
)

func main() {
	var (
		rounds = flag.Int("rounds", 5, "how often every benchmark runs")
		each   = flag.Duration("benchtime", 200*time.Millisecond, "how long a benchmark runs in a round")
		only   = flag.String("bench", ".", "which benchmarks to run, as for go test")
		readme = flag.String("readme", "", "the file that gets the table; empty prints it")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *rounds, *each, *only, *readme)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rounds int, each time.Duration, only, readme string) error {
	if readme != "" {
		if err := marked.Bench.Check(readme); err != nil {
			return err // told now, not after minutes of measuring
		}
	}
	found, err := measure(ctx, rounds, each, only)
	if err != nil {
		return err
	}
	fmt.Println(report(found))
	if readme == "" {
		fmt.Println(table(found, rounds))
		return nil
	}
	return marked.Bench.Update(readme, table(found, rounds))
}
