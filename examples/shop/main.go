// Shop is four services on one policy file: a front that customers talk to, an
// inventory behind it that speaks gRPC, payments, and a search. Customers come,
// and go on coming while one thing after another breaks.
//
// Every edge has its policies from policies.yaml: deadlines that travel, retries
// within budgets, breakers, bulkheads; a hedge and a stale answer for searches;
// keys for orders, which derive those of their reservation and their charge.
// Every service takes up deadlines, sheds what matters least, and does keyed
// work once. The file is followed: in one scene it is edited.
//
// In the end the program prints how it went, and fails if an order was charged
// twice or lost, or a customer had to wait beyond the deadline, or, in runs of
// two minutes and more, if it takes more goroutines or memory than after the
// first.
//
//	go run ./examples/shop
//	go run ./examples/shop -serve
//	go run ./examples/shop -for 10m -quiet
//
// The second goes on until it is interrupted, with a console and /metrics.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// options are what the command line says.
type options struct {
	long  time.Duration // how long customers come
	serve bool          // until interrupted, with a console
	quiet bool          // print the summary alone
	rate  float64       // customers a second
}

// most is how long a round lasts at most.
const most = 20 * time.Second

func main() {
	o := options{rate: 120}
	flag.DurationVar(&o.long, "for", most, "how long customers come; a round of the script lasts 20s")
	flag.BoolVar(&o.serve, "serve", false, "go on until interrupted, with console and /metrics on 127.0.0.1")
	flag.BoolVar(&o.quiet, "quiet", false, "print the summary alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, new(loopback), o); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

// run opens a shop on n, has rounds played in it, and says what went wrong.
func run(ctx context.Context, out io.Writer, n network, o options) (err error) {
	if o.long <= 0 {
		return fmt.Errorf("-for %v: must be positive", o.long)
	}
	s, err := open(ctx, n, o.rate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if o.serve {
		if err := s.show(ctx, out); err != nil {
			return err
		}
	}
	var l leaks
	if err := s.rounds(ctx, out, o, &l); err != nil {
		return err
	}
	s.summary(out)
	fmt.Fprintln(out, &l)
	return errors.Join(s.ledger.err(), l.err())
}

// rounds plays as many rounds as o says, each of at most 20 s.
func (s *shop) rounds(ctx context.Context, out io.Writer, o options, l *leaks) error {
	story := out
	if o.quiet {
		story = io.Discard
	}
	began, played := time.Now(), time.Duration(0)
	for ctx.Err() == nil && (o.serve || played < o.long) {
		long := most
		if !o.serve {
			long = min(most, o.long-played)
		}
		if err := s.round(ctx, story, long); err != nil {
			return err
		}
		played += long
		l.add(s.rest(began))
	}
	return nil
}

// show lets operators look, and says where.
func (s *shop) show(ctx context.Context, out io.Writer) error {
	local := new(loopback)
	stop, err := serve(ctx, local, "operators", s.sight.routes())
	if err != nil {
		return err
	}
	s.later(func(ctx context.Context) error { return errors.Join(s.sight.page.Close(ctx), stop()) })
	at := "http://" + local.addresses["operators"]
	fmt.Fprintf(out, "console   %s/console/\nmetrics   %s/metrics\npolicies  %s (edit it: also faults take effect)\n\n", at, at, s.file)
	return nil
}
