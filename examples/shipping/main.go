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
// On Kafka, the actors are shared out to as many processes as there are, and
// orders are placed and audited by another one, which says how long nobody
// answered, should one of them die:
//
//	go run ./examples/shipping -kafka localhost:9092 -node one
//	go run ./examples/shipping -kafka localhost:9092 -node two
//	go run ./examples/shipping -kafka localhost:9092
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
	"strings"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
	"github.com/backstay-go/backstay/internal/kafkaflag"
)

// day is how long a day takes in this world; the same in all processes.
var day = 100 * time.Millisecond

// settings are those of the command line.
type settings struct {
	crash  bool
	orders int
	seed   uint64

	kafka  list
	reach  kafkaflag.Flags
	app    string
	node   string
	copies uint
	pulses list
	every  time.Duration
	pace   time.Duration
	day    time.Duration
	drill  bool
}

// list is a flag that has several values, separated by commas.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = strings.Split(s, ","); return nil }

func main() {
	if err := tell(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shipping:", err)
		os.Exit(1)
	}
}

func tell(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	day = s.day
	switch dir := drill.Folder(); {
	case len(s.kafka) > 0 && s.node != "":
		return serve(ctx, s, in, out)
	case len(s.kafka) > 0:
		return drive(ctx, s, in, out)
	case dir != "":
		return work(ctx, dir, *s, out)
	default:
		return look(ctx, *s, out)
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{pulses: list{"a", "b", "c", "d"}}
	flags := flag.NewFlagSet("shipping", flag.ContinueOnError)
	flags.BoolVar(&s.crash, "crash", false, "kill the process again and again")
	flags.IntVar(&s.orders, "orders", 400, "how many orders are placed")
	flags.Uint64Var(&s.seed, "seed", 1, "which orders")
	flags.Var(&s.kafka, "kafka", "`addresses` of brokers, by commas: the actors are on Kafka")
	s.reach.Register(flags)
	flags.StringVar(&s.app, "app", "shipping", "on Kafka: what the topics' names begin with")
	flags.StringVar(&s.node, "node", "", "on Kafka: host the actors, under this `name`; without it, be their client")
	flags.UintVar(&s.copies, "copies", 1, "on Kafka: of every partition, with new topics")
	flags.Var(&s.pulses, "pulses", "on Kafka: the `ids` of the actors that are felt all the time")
	flags.DurationVar(&s.every, "every", 50*time.Millisecond, "on Kafka: how often")
	flags.DurationVar(&s.pace, "pace", 20*time.Millisecond, "between two orders of a client")
	flags.DurationVar(&s.day, "day", day, "how long a day takes; the same in all processes")
	flags.BoolVar(&s.drill, "drill", false, "on Kafka: tell all in JSON, and take orders from standard input, until its end")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if s.orders < 1 {
		return nil, fmt.Errorf("%d orders: at least 1 is needed", s.orders)
	}
	if s.day < time.Millisecond || s.every < time.Millisecond || s.pace < 0 {
		return nil, fmt.Errorf("a day of %v, every %v, a pace of %v: too short", s.day, s.every, s.pace)
	}
	return s, nil
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
