// Telemetry shows what Backstay tells OpenTelemetry, and through it Prometheus.
// A service lives through a bad day of two seconds while a client calls it
// with all policies on; then the program reads its own /metrics, as Prometheus
// would, and prints what is there.
//
//	go run ./examples/telemetry
//	go run ./examples/telemetry -keep -addr 127.0.0.1:9464
//
// The second repeats the day until it is interrupted, for a Prometheus that
// scrapes it, and a Grafana: grafana.json is a dashboard of these metrics, and
// alerts.yaml holds rules for Prometheus. Both work for any program that
// exports what package otelmw measures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where /metrics is served")
	keep := flag.Bool("keep", false, "repeat the day until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := show(ctx, os.Stdout, *addr, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

// show plays the day and prints what a scrape finds after it.
func show(ctx context.Context, out io.Writer, addr string, keep bool) (err error) {
	p, err := newProgram(ctx, addr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()

	fmt.Fprintf(out, "%s has the metrics.\n\n", p.metricsURL())
	for {
		err := p.live(ctx, out)
		if keep && ctx.Err() != nil {
			return nil // as was asked for
		}
		if err != nil {
			return err
		}
		if !keep {
			break
		}
	}
	found, err := p.scrape(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nWhat a scrape finds, without the histograms' buckets and what is 0:")
	found.print(out)
	return nil
}
