package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

// work asks for all additions, those that an earlier life of this process has
// asked for as well: the key makes them one.
func work(ctx context.Context, dir string, out io.Writer) (err error) {
	log, err := memory.Open(filepath.Join(dir, "log"), memory.WithPartitions(4), memory.WithoutSync())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	outside := store{filepath.Join(dir, "outside")}
	if err := os.MkdirAll(outside.dir, 0o700); err != nil {
		return err
	}
	node, err := actors.Open(ctx, actors.Config{Name: "counter"}, log, host(outside))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop(ctx)) }()
	ctx = node.Context(ctx)

	if err := add(ctx); err != nil {
		return err
	}
	return report(ctx, outside, out)
}

// add runs the additions of the three counters side by side.
func add(ctx context.Context) error {
	methods := map[string]actors.Method[int, int, counter]{"own": Own, "chained": Chained, "naive": Naive}
	var group sync.WaitGroup
	failures := make(chan error, len(methods))
	for name, method := range methods {
		group.Go(func() {
			for i := range additions {
				key := fmt.Sprintf("%s-%d", name, i)
				if _, err := method.Call(ctx, Counter.Ref(name), 1, actors.IdempotencyKey(key)); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}

func report(ctx context.Context, outside store, out io.Writer) error {
	own, err := Total.Call(ctx, Counter.Ref("own"), struct{}{})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  %-46s %d\n", "the actor's own value:", own)
	chained, err := outside.get("chained")
	if err != nil {
		return err
	}
	naive, err := outside.get("naive")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  %-46s %d\n", "a file, read, then written in a tail call:", chained)
	fmt.Fprintf(out, "  %-46s %d\n", "a file, read and written in one step:", naive)
	return nil
}
