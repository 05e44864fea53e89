// Order takes orders over HTTP, charges cards over HTTP, and has actors in
// between. The process that does it is killed again and again, cards are
// charged over a connection that loses answers, and every customer clicks
// twice. In the end each order that was shipped is charged once.
//
//	go run ./examples/order
//	go run ./examples/order -orders 2000 -kills 50 -console 127.0.0.1:8321
//
// The second goes on for a while, with the live page of the process at that
// address: what the actors do, what waits, and how each new process takes over.
//
// handler.go turns a request into a call of an actor, order.go is the chain of
// its methods, charge.go the request that goes out. docs/together.md tells how
// the deadline and the key travel.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

func main() {
	d := day{customers: 8}
	flag.IntVar(&d.orders, "orders", 40, "how many orders each customer places")
	flag.IntVar(&d.kills, "kills", 6, "how often the process is killed")
	flag.StringVar(&d.console, "console", "", "where the live page is served; empty means nowhere")
	flag.Parse()
	if err := tell(context.Background(), os.Stdout, d); err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		os.Exit(1)
	}
}

// tell takes orders, if this is the process that does, or has it killed.
func tell(ctx context.Context, out io.Writer, d day) error {
	if dir := drill.Folder(); dir != "" {
		return runShop(drill.Attended(ctx), dir, d.console)
	}
	long := time.Minute + time.Duration(d.orders)*time.Second
	ctx, cancel := context.WithTimeout(ctx, long) // nothing takes that long, unless it is lost
	defer cancel()
	fmt.Fprintf(out, "%d customers order %d things each, and click twice; the process that takes the orders is killed meanwhile:\n", d.customers, d.orders)
	h, err := d.pass(ctx, out)
	if err != nil {
		return err
	}
	return h.judge(out)
}
