package fallback_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

type Price struct {
	Cents   int
	Unknown bool
}

// A function without a request: one setting, the same for everybody.
func Example() {
	ladder, err := fallback.New(fallback.Config{}, fallback.Rungs(
		fallback.Reduced("file", func(_ context.Context, cause error) (string, error) {
			return "", fmt.Errorf("no such file (and before that: %w)", cause)
		}),
		fallback.Value("EUR"),
	))
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, report := backstay.WithReport(context.Background())
	currency, err := fallback.Do(ctx, ladder, func(context.Context) (string, error) {
		return "", errors.New("settings: connection refused")
	})
	s := report.Summary()
	fmt.Println(currency, err)
	fmt.Println(s.Degraded, s.Rung, "because of", s.Cause)
	// Output:
	// EUR <nil>
	// true value because of settings: connection refused
}

// A function of a request: the rungs see which price was asked for, and the
// last good price of the same article is the best of them.
func ExampleFor() {
	backend := map[string]int{"apple": 120, "pear": 150}
	fetchPrice := func(_ context.Context, sku string) (Price, error) {
		cents, ok := backend[sku]
		if !ok {
			return Price{}, errors.New("prices: connection refused")
		}
		return Price{Cents: cents}, nil
	}
	listPrice := func(_ context.Context, sku string, _ error) (Price, error) {
		if sku == "plum" {
			return Price{Cents: 99}, nil
		}
		return Price{}, errors.New("not on the list")
	}

	var rung fallback.For[string, Price]
	prices, err := fallback.New(fallback.Config{}, fallback.Rungs(
		rung.Cached(func(_ context.Context, sku string) string { return sku }, nil),
		rung.Reduced("list price", listPrice),
		rung.Value(Price{Unknown: true}),
	))
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	_, _ = fallback.DoFor(ctx, prices, "apple", fetchPrice)
	backend = nil // the backend goes down
	for _, sku := range []string{"apple", "plum", "pear"} {
		ctx, report := backstay.WithReport(ctx)
		price, err := fallback.DoFor(ctx, prices, sku, fetchPrice)
		fmt.Println(sku, price, err, report.Summary().Rung)
	}
	// Output:
	// apple {120 false} <nil> cached
	// plum {99 false} <nil> list price
	// pear {0 true} <nil> value
}

// A clear error in place of a puzzling one, with the cause kept.
func ExampleFail() {
	refused := errors.New("dial tcp 10.0.0.7:443: connection refused")
	ladder, err := fallback.New(fallback.Config{}, fallback.Rungs(
		fallback.Fail[int](errors.New("stock levels are not available at the moment")),
	))
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = fallback.Do(context.Background(), ladder, func(context.Context) (int, error) {
		return 0, refused
	})
	fmt.Println(err)
	fmt.Println(errors.Is(err, refused))
	// Output:
	// fallback: stock levels are not available at the moment: dial tcp 10.0.0.7:443: connection refused
	// true
}

// A call that must not be guessed: a ladder on it does not even start.
func ExampleConfig_failClosed() {
	_, err := fallback.New(fallback.Config{FailClosed: true}, fallback.Rungs(
		fallback.Value(true), // "allowed", surely
	))
	fmt.Println(err)
	// Output:
	// fallback.fail_closed: true is not allowed: must not be set where there are rungs (here: 1)
}
