// Idempotent charges a card over a connection that breaks at the worst moment:
// when the bank has done its work and before its answer has arrived.
//
// A client that tries again by itself charges twice. With Backstay the client
// gives the charge a key before the first attempt and sends the same one with
// each (Config.Generate, which states that the bank honours keys), and the bank
// does its work once per key: the Handler of httpmw remembers the answer and
// gives it again, byte for byte. The same Handler saves the customer who clicks
// twice, and refuses a key that comes back with another amount.
//
//	go run ./examples/idempotent
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "idempotent:", err)
		os.Exit(1)
	}
}

// tell plays all scenes, each with a bank of its own.
func tell(ctx context.Context, out io.Writer) error {
	for i, s := range scenes {
		fmt.Fprintf(out, "%d. %s\n", i+1, s.title)
		b, err := s.perform(ctx, out)
		if err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintf(out, "   => the bank has charged: %s\n\n", strings.Join(b.charges, ", "))
	}
	return nil
}
