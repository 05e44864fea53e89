// Deadlines follows one deadline through three services.
//
// A caller waits 300ms for gateway -> orders -> stock, and today stock takes
// 600ms. In the first scene the services are written as services often are:
// each calls the next one with a timeout of its own, and works for whoever
// asked until it is done. The caller has long left when the work is.
//
// In the second scene each service takes up the deadline of its caller (the
// Handler of httpmw) and tells the next one what is left of it (the Transport of
// httpmw, with the target middleware.Internal). All of them stop in the moment
// in which the caller does.
//
// In the third scene the gateway is slow itself, and orders, which knows that
// it cannot answer within what is left, refuses before it has begun.
//
//	go run ./examples/deadlines
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// patience is how long the caller waits.
const patience = 300 * time.Millisecond

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "deadlines:", err)
		os.Exit(1)
	}
}

// tell plays the three scenes.
func tell(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "A caller waits %v for gateway -> orders -> stock. What each of them sees, and when:\n", patience)
	for _, s := range scenes {
		fmt.Fprintf(out, "\n%s\n", s.title)
		c, err := s.play(ctx, out)
		if err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		fmt.Fprintf(out, "   => worked in all: %v; after the caller had left: %v\n", c.work.done(), c.work.wasted())
	}
	return nil
}

// scene is one call through the chain, on a day on which gateway and stock
// take so long.
type scene struct {
	title          string
	wire           wire
	gateway, stock time.Duration
}

var scenes = []scene{
	{"1. Each service has a timeout of its own (2s); stock is slow",
		asUsual, 40 * time.Millisecond, 600 * time.Millisecond},
	{"2. One deadline for all; stock is slow",
		withDeadlines, 40 * time.Millisecond, 600 * time.Millisecond},
	{"3. One deadline for all; gateway is slow, and orders needs 150ms at least",
		withDeadlines, 200 * time.Millisecond, 40 * time.Millisecond},
}

// play makes the call, and returns the chain when all its work is over.
func (s scene) play(ctx context.Context, out io.Writer) (*chain, error) {
	c, err := newChain(s, out)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c, c.call(ctx)
}
