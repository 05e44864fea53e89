package idempotency_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// What a worker is told.
const (
	workerAddr  = "BACKSTAY_E2E_WORKER"
	workerKey   = "BACKSTAY_E2E_WORKER_KEY"
	workerTakes = "BACKSTAY_E2E_WORKER_TAKES"
)

// work is the program of another process: it does the work of one request
// under a guard, and says when that begins and what came of it.
func work(addr string) {
	client := newClient(addr)
	defer client.Close()
	takes, _ := time.ParseDuration(os.Getenv(workerTakes))
	store, err := redis.New(redis.Config{}, client)
	if err != nil {
		fmt.Println(err)
		return
	}
	guard, _ := idempotency.NewGuard(quick, store)
	answer, replayed, err := guard.Run(context.Background(), request(os.Getenv(workerKey), "body"),
		func(ctx context.Context) (idempotency.Answer, error) {
			fmt.Println("began")
			time.Sleep(takes)
			return idempotency.Answer{Data: []byte("the worker's")}, ctx.Err()
		})
	fmt.Printf("ended %q %t %v\n", answer.Data, replayed, err)
}

// worker is a process that runs work.
type worker struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startWorker(t *testing.T, server *service.Redis, key string, takes time.Duration) *worker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), workerAddr+"="+server.Addr, workerKey+"="+key, workerTakes+"="+takes.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(w.kill)
	return w
}

// says waits for the next line.
func (w *worker) says(want string) {
	w.t.Helper()
	w.lines.Scan()
	if got := w.lines.Text(); !strings.HasPrefix(got, want) {
		w.t.Fatalf("the worker says %q, want %q", got, want)
	}
}

// kill ends it without a warning.
func (w *worker) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}
