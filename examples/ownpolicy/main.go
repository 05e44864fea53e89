// Ownpolicy protects a plain function, a query of a database, by policies that
// it nests by hand, in an order of its own:
//
//	bulkhead > breaker > retry > timeout > query
//
// Package middleware has another order, with breaker and bulkhead inside of the
// retry, because a service that fails every second attempt is ill. For a
// database it is not: transactions that meet in the same row end in conflicts,
// all day long, and another attempt mends them. So here the breaker is outside
// of the retry and hears only of transactions that could not be saved. And
// since a transaction keeps its connection while it waits for its next attempt,
// the bulkhead, which counts connections, is outside of all.
//
// Every policy has a Do for plain functions; another order is another nesting
// of them, see transact.
//
//	go run ./examples/ownpolicy
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ownpolicy:", err)
		os.Exit(1)
	}
}

// tell plays all scenes, each with a database of its own.
func tell(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "Transactions go through bulkhead > breaker > retry > timeout, nested by hand.")
	for i, s := range scenes {
		fmt.Fprintf(out, "\n%d. %s\n", i+1, s.title)
		if err := s.play(ctx, out); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
	}
	return nil
}
