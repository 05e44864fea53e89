// Crash has the processes of examples/shipping die on a real Kafka, again and
// again, and measures what that is like for their clients: how long nobody
// answers for the actors of the one that died, phase by phase, what the others
// notice, and whether anything is lost or counted twice.
//
//	go run ./cmd/crash -failures 1000 -out results.jsonl
//	go run ./cmd/crash -failures 2000 -out results.jsonl -resume
//	go run ./cmd/crash report results.jsonl
//
// Three processes host the actors, a fourth is their client: it places orders,
// adds to counters and asks every partition of every type all the time, and
// audits. The settings of the consumer group are those of a stock broker.
//
// # Modes
//
//	single    one of the three is killed (SIGKILL), at a random moment or at a
//	          point that only it knows when it is there: see drill.Fuse
//	paired    another one is killed while the partitions of the first are on
//	          their way
//	paused    one is frozen (SIGSTOP), and goes on when others have taken over
//	leave     one is asked to leave (SIGTERM)
//	snapshot  the first dies that saves a snapshot
//	total     all are killed; they are started again after -pause
//	broker    a broker of three is killed, and started again
//	busy      nobody fails for a minute, while nine tenths of the processors'
//	          time are used
//
// The next failure comes when the system has settled: every process owns
// something, and all partitions have answered for a second without a long wait.
// After a chapter of failures the client waits until all orders are delivered
// and looks at everything once more; the next chapter has new topics.
//
//	main.go     the command line
//	run.go      one failure after another
//	chapter.go  the processes, from new topics to the last audit
//	fail.go     the modes, and busy.go, the one in which nobody fails
//	process.go  one process, and what it says
//	scene.go    what was heard of all of them
//	measure.go  outages and their phases; pure
//	result.go   the file of results
//	report.go   what is told of it, and figure.go, how it is drawn
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/backstay-go/backstay/e2e/brokers"
)

// settings are those of the command line.
type settings struct {
	failures int
	modes    []string
	seed     uint64
	chapter  int
	pause    time.Duration
	delay    time.Duration
	within   time.Duration
	out      string
	resume   bool
	said     string
}

func main() {
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := tell(ctx, os.Args[1:])
	end()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

func tell(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "burn" { // for the mode busy
		return burn()
	}
	if len(args) > 0 && args[0] == "report" {
		if len(args) != 3 {
			return errors.New("usage: crash report FILE FOLDER")
		}
		return report(args[1], args[2], os.Stdout)
	}
	s, err := parse(args)
	if err != nil {
		return err
	}
	return crash(ctx, s)
}

func parse(args []string) (settings, error) {
	var s settings
	var modes string
	flags := flag.NewFlagSet("crash", flag.ContinueOnError)
	flags.IntVar(&s.failures, "failures", 20, "how many, those before -resume included")
	flags.StringVar(&modes, "modes", "single", "of which kinds, by commas; one is drawn for each failure")
	flags.Uint64Var(&s.seed, "seed", 1, "which failures")
	flags.IntVar(&s.chapter, "chapter", 50, "how many until all is audited")
	flags.DurationVar(&s.pause, "pause", 30*time.Second, "of a total failure")
	flags.DurationVar(&s.delay, "rebalance-delay", 3*time.Second, "group.initial.rebalance.delay.ms of the brokers; stock is 3s")
	flags.DurationVar(&s.within, "within", 24*time.Hour, "begin no failure later than this")
	flags.StringVar(&s.out, "out", "crash.jsonl", "the file of results")
	flags.BoolVar(&s.resume, "resume", false, "go on where the file ends")
	flags.StringVar(&s.said, "said", "", "a folder for all that the processes say, made if there is none")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.modes = strings.Split(modes, ",")
	for _, m := range s.modes {
		if acts[m] == nil {
			return s, fmt.Errorf("%q is no mode: they are single, paired, paused, leave, snapshot, total, broker, busy", m)
		}
	}
	if s.failures < 1 || s.chapter < 1 || s.pause < 0 || s.delay < 0 {
		return s, errors.New("failures and chapter must be positive, pause and rebalance-delay not negative")
	}
	return s, nil
}

// crash starts what is needed, and runs.
func crash(ctx context.Context, s settings) (err error) {
	dir, err := os.MkdirTemp("", "backstay-crash-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if s.said != "" {
		if err := os.MkdirAll(s.said, 0o755); err != nil { //nolint:gosec // a folder to read in
			return err
		}
	}
	program, err := build(ctx, dir)
	if err != nil {
		return err
	}
	options := []brokers.Option{brokers.WithFullCompiler(), brokers.WithRebalanceDelay(s.delay)}
	copies := 1
	if strings.Contains(strings.Join(s.modes, ","), "broker") {
		copies, options = 3, append(options, brokers.WithBrokers(3), brokers.WithSession(brokerSession)) //nolint:mnd // as many as it takes
	}
	cluster, err := brokers.Launch(filepath.Join(dir, "kafka"), options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.End()) }()
	r := &run{settings: s, program: program, addrs: cluster.Addrs(), copies: copies, cluster: cluster, app: fmt.Sprint("c", time.Now().Unix())}
	return r.all(ctx, os.Stdout)
}
