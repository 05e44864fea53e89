package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// measure builds the benchmarks of the module in the working directory and
// runs them round by round.
func measure(ctx context.Context, rounds int, each time.Duration, only string) (*results, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "bench.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	found := newResults()
	for round := range rounds {
		began := time.Now()
		out, err := exec.CommandContext(ctx, program,
			"-test.run", "^$", "-test.bench", only, "-test.benchtime", each.String()).Output()
		if err != nil {
			return nil, fmt.Errorf("round %d: %w\n%s", round+1, err, lastLines(out, 20))
		}
		if err := found.read(bytes.NewReader(out)); err != nil {
			return nil, fmt.Errorf("round %d: %w", round+1, err)
		}
		fmt.Fprintf(os.Stderr, "round %d of %d took %v\n", round+1, rounds, time.Since(began).Round(time.Second))
	}
	return found, nil
}

func lastLines(out []byte, n int) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
