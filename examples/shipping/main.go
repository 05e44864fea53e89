// Shipping books containers onto ships, after the application of the paper that
// actors follow: an order manager, orders, voyages, depots and a schedule, each
// a type of actors. A booking is a chain of some fourteen calls, tail calls,
// tells and reminders, through five types: what is in actors here would be a
// workflow elsewhere.
//
//	go run ./examples/shipping
//	go run ./examples/shipping -crash -orders 400 -seed 7
//
// With -crash the process is killed again and again, and the table says what
// that costs: how long orders take, and how long nobody is answered after a
// kill. All the while an auditor looks whether an order was lost, whether
// containers appear or vanish, whether a ship arrives that has not departed,
// and whether the manager counts what is.
//
// The way of an order:
//
//	client ─call─▶ Manager.book ─tail─▶ Order.create ─query─▶ Schedule.find
//	   Order.create ─tail─▶ Order.next ─tail─▶ Voyage.reserve ─tail─▶ Depot.take
//	   ─tail─▶ Voyage.load ─tail─▶ Order.confirm ─▶ the client has its receipt
//	                                   └─tell─▶ Manager.note
//	reminder ─▶ Voyage.depart ─tell─▶ Order.sail ─tell─▶ Manager.note
//	reminder ─▶ Voyage.arrive ─tell─▶ Order.deliver ─tell─▶ Manager.note
//	                └─tell─▶ Depot.receive
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

// day is how long a day takes in this world.
const day = 100 * time.Millisecond

// settings are those of the command line.
type settings struct {
	crash  bool
	orders int
	seed   uint64
}

func main() {
	if err := tell(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shipping:", err)
		os.Exit(1)
	}
}

func tell(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("shipping", flag.ContinueOnError)
	flags.BoolVar(&s.crash, "crash", false, "kill the process again and again")
	flags.IntVar(&s.orders, "orders", 400, "how many orders are placed")
	flags.Uint64Var(&s.seed, "seed", 1, "which orders")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.orders < 1 {
		return fmt.Errorf("%d orders: at least 1 is needed", s.orders)
	}
	if dir := drill.Folder(); dir != "" {
		return work(ctx, dir, s, out)
	}
	return look(ctx, s, out)
}

// look has the orders placed in a process of their own: on a calm day, and
// perhaps on a bad one.
func look(ctx context.Context, s settings, out io.Writer) error {
	days := []*spell{{name: "calm"}}
	if s.crash {
		days = append(days, &spell{name: "with kills", kills: 8})
	}
	for _, d := range days {
		fmt.Fprintf(out, "%s:\n", d.name)
		if err := d.pass(ctx, s, out); err != nil {
			return err
		}
	}
	table(out, days)
	return nil
}
