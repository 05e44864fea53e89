// Fencing guards a store outside of the actors against an owner that is out of
// date: a process that was frozen, lost its actors to another one, and goes on
// as if nothing had happened. Its records in the log are void. What it writes
// elsewhere is not, unless the store asks for the fencing token.
//
// Two processes own an account, one after the other. The first one freezes in
// the middle of a method, after it has read the store and before it writes. The
// second one takes over, runs the method again, and writes. Then the first one
// wakes up and writes as well.
//
//	go run ./examples/fencing
//
// It does that twice: with a store that takes what it is given, and with one
// that compares tokens. Look at store.go: that is all there is to it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fencing:", err)
		os.Exit(1)
	}
}

// tell plays the scene with both stores.
func tell(ctx context.Context, out io.Writer) error {
	for _, s := range []struct {
		name  string
		store store
	}{{"a store that takes all:", new(trusting)}, {"a store that compares tokens:", new(fenced)}} {
		balance, refused, err := play(ctx, s.store)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-30s 100 + 10 + 5 is %d; of the sleeper's write it says: %v\n", s.name, balance, refused)
	}
	return nil
}
