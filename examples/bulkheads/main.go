// Bulkheads shows how one slow dependency sinks a whole service, and how a
// bulkhead keeps the rest afloat.
//
// A front service has room for 16 requests at once, as every program has room
// for so many only, be it memory, threads or connections to a database. It
// serves prices and reviews, each from a service of its own. Then reviews gets
// slow. Its requests pile up until they fill the room, and those for prices,
// whose service is as well as ever, wait outside.
//
// With a bulkhead around each dependency none of them ever takes more than
// half of the room. What does not fit is refused at once, before anything is
// sent. Prices are as quick as on a good day, reviews answers no fewer calls
// than it did without, and whoever gets none knows it without having waited.
//
//	go run ./examples/bulkheads
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bulkheads:", err)
		os.Exit(1)
	}
}

// tell lives through all days and prints what became of the calls.
func tell(ctx context.Context, out io.Writer) error {
	calm := load{calls: 120, during: 800 * time.Millisecond}
	fmt.Fprintf(out, "A front service with room for %d requests serves prices and reviews: %d calls to each in %v.\n",
		room, calm.calls, calm.during)
	fmt.Fprintf(out, "Both take %v; a slow reviews takes %v. Callers wait for %v at most.\n\n", quick, slow, patience)
	fmt.Fprintf(out, "%-30s %-8s %9s %8s %8s %10s %10s\n", "", "", "answered", "refused", "gave up", "p50", "p95")
	for _, d := range days {
		prices, reviews, err := d.live(ctx, calm)
		if err != nil {
			return fmt.Errorf("%s: %w", d.title, err)
		}
		fmt.Fprintf(out, "%-30s %-8s %v\n%-30s %-8s %v\n", d.title, "prices", prices, "", "reviews", reviews)
	}
	fmt.Fprintf(out, "\nrefused: told at once that there is no room, nothing was sent. gave up: waited for %v in vain.\n", patience)
	return nil
}

// day is one in the life of the front service.
type day struct {
	title   string
	reviews time.Duration // how long that service takes
	config  middleware.Config
}

// halves lets each dependency take half of the room.
var halves = middleware.Config{Bulkhead: &bulkhead.Config{Limit: room / 2}}

var days = []day{
	{"all is well", quick, middleware.Config{}},
	{"reviews is slow", slow, middleware.Config{}},
	{"reviews is slow, bulkheads", slow, halves},
}

// live serves the load, and counts what became of it.
func (d day) live(ctx context.Context, l load) (prices, reviews *tally, err error) {
	f, err := newFront(d.config, taking(quick), taking(d.reviews))
	if err != nil {
		return nil, nil, err
	}
	defer f.close()
	prices, reviews = l.put(ctx, f.server.URL)
	return prices, reviews, nil
}
