package kafka

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// What a process of this binary is told by its environment.
const (
	roleVariable    = "BACKSTAY_BENCH_ROLE"
	clusterVariable = "BACKSTAY_BENCH_CLUSTER"
)

// cluster is where all processes of a measurement meet.
type cluster struct {
	Brokers  []string
	Replicas int16
}

// A role is what another process does: it says ready, and serves until ctx
// ends.
type role func(ctx context.Context, at cluster, ready func()) error

var roles = map[string]role{"echo": echo, "host": host}

// play is what a process does that was started by spawn. It ends with its
// standard input: the parent need not be alive to end it.
func play(name string) int {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var at cluster
	err := json.Unmarshal([]byte(os.Getenv(clusterVariable)), &at)
	if err == nil {
		err = roles[name](ctx, at, func() { fmt.Println("ready") })
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// spawn starts this binary again in a role, waits until it is ready, and ends
// it with the benchmark.
func spawn(b *testing.B, name string, at cluster) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+name, clusterVariable+"="+string(must(json.Marshal(at))))
	cmd.Stderr = os.Stderr
	in := must(cmd.StdinPipe())
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("%s: %v", name, err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatalf("%s said %q: %v", name, line, err)
	}
}

// must is for what fails only if this machine is broken.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
