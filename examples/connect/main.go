// Connect puts Backstay under a Connect client and in front of a Connect
// handler. Connect is HTTP, so both are those of package httpmw: its Transport
// below the client, its Handler around the handler. One interceptor of a few
// lines tells the Transport what only the schema knows: which procedures may be
// repeated.
//
// In the first scene a server fails twice and a read comes through all the
// same. In the second an order is sent, and its answer lost: with an
// idempotency key the second attempt gets the first one's answer. In the third
// the server is told how long each attempt has left. In the fourth the breaker
// is open, and the caller learns it as a Connect error.
//
//	go run ./examples/connect
//
// What this way costs is told in docs/adr/0014-connect.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "connect:", err)
		os.Exit(1)
	}
}

// tell plays the scenes.
func tell(ctx context.Context, out io.Writer) error {
	for _, s := range scenes {
		fmt.Fprintf(out, "%s\n", s.title)
		shop, err := newShop()
		if err != nil {
			return err
		}
		err = s.play(ctx, shop, out)
		shop.close()
		if err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintln(out)
	}
	return nil
}
