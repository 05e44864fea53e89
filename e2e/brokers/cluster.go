package brokers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

// Cluster is the brokers of a test, called by their index from 0. Its methods
// are for one goroutine; they fail the test that it was started for.
type Cluster struct {
	tb    testing.TB
	nodes []*node
	gone  []string // what those said that a Restart has replaced
}

// Start starts brokers that answer, and kills them at the end of the test.
func Start(tb testing.TB, options ...Option) *Cluster {
	tb.Helper()
	c, err := start(tb.TempDir(), newPlan(options))
	if err != nil {
		tb.Fatal(err)
	}
	c.tb = tb
	tb.Cleanup(func() {
		if err := c.end(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// Launch starts brokers in a folder for a program that is no test, which ends
// them with [Cluster.End]. What would fail a test is a panic there.
func Launch(dir string, options ...Option) (*Cluster, error) {
	c, err := start(dir, newPlan(options))
	if err != nil {
		return nil, err
	}
	c.tb = program{}
	return c, nil
}

// End kills them all.
func (c *Cluster) End() error { return c.end() }

// program stands in for a test.
type program struct{ testing.TB }

func (program) Helper()           {}
func (program) Error(args ...any) { panic(fmt.Sprint(args...)) }
func (program) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// start starts brokers in a folder.
func start(dir string, p *plan) (*Cluster, error) {
	if p.brokers != 1 && p.brokers != 3 {
		return nil, fmt.Errorf("%d brokers: 1 or 3 are possible", p.brokers)
	}
	from, err := install()
	if err != nil {
		return nil, err
	}
	const tries = 3 // somebody else may be given a port meanwhile
	for try := 1; ; try++ {
		c, err := prepare(filepath.Join(dir, fmt.Sprint("try", try)), p, from)
		if err != nil {
			return nil, err
		}
		if err = c.startAll(); err == nil {
			return c, nil
		}
		if err = errors.Join(err, c.end()); try == tries || !strings.Contains(err.Error(), "Address already in use") {
			return nil, err
		}
	}
}

// prepare gives every broker its ports, its settings and an empty data folder.
func prepare(dir string, p *plan, from *distribution) (*Cluster, error) {
	const each = 3
	free, err := service.FreePorts(each * p.brokers)
	if err != nil {
		return nil, err
	}
	all := make([]ports, p.brokers)
	for i := range all {
		all[i] = ports{plain: free[each*i], sasl: free[each*i+1], controller: free[each*i+2]}
	}
	c, cluster, compile := new(Cluster), uuid(), quickStart
	if p.lasting {
		compile = fullCompiler
	}
	for i := range all {
		n := &node{from: from, dir: filepath.Join(dir, fmt.Sprint("broker", i)), ports: all[i], compile: compile}
		if err := n.format(cluster, i); err != nil {
			return nil, err
		}
		if err := os.WriteFile(n.properties(), []byte(p.properties(i, all, n.data())), 0o600); err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n)
	}
	return c, nil
}

// startAll starts them at once: they need each other.
func (c *Cluster) startAll() error {
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := n.await(); err != nil {
			return err
		}
	}
	return nil
}

// end kills them all.
func (c *Cluster) end() error {
	var errs []error
	for _, n := range c.nodes {
		errs = append(errs, n.kill())
	}
	return errors.Join(errs...)
}

// Addrs are the addresses for clients, as host:port; the same after a Restart.
func (c *Cluster) Addrs() []string {
	return c.addrs(func(p ports) int { return p.plain })
}

// SASLAddrs are those for clients that say who they are; see [WithSASL].
func (c *Cluster) SASLAddrs() []string {
	return c.addrs(func(p ports) int { return p.sasl })
}

func (c *Cluster) addrs(port func(ports) int) []string {
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = service.Loopback(port(n.ports))
	}
	return addrs
}

// Kill ends a broker without a warning (SIGKILL). To kill one again does
// nothing.
func (c *Cluster) Kill(broker int) { c.tb.Helper(); c.check(c.nodes[broker].kill()) }

// Stop lets a broker hand over what it leads, and end (SIGTERM).
func (c *Cluster) Stop(broker int) {
	c.tb.Helper()
	c.check(c.nodes[broker].process.End(syscall.SIGTERM))
}

// Pause freezes a broker (SIGSTOP): it accepts connections, and answers
// nothing.
func (c *Cluster) Pause(broker int) {
	c.tb.Helper()
	c.check(c.nodes[broker].process.Signal(syscall.SIGSTOP))
}

// Resume lets a frozen broker go on (SIGCONT).
func (c *Cluster) Resume(broker int) {
	c.tb.Helper()
	c.check(c.nodes[broker].process.Signal(syscall.SIGCONT))
}

// Restart kills a broker, if it runs, starts it again on its data and waits
// until it answers.
func (c *Cluster) Restart(broker int) {
	c.tb.Helper()
	n := c.nodes[broker]
	c.check(n.kill())
	c.gone = append(c.gone, heading(broker, n.process))
	if err := n.start(); err != nil {
		c.tb.Fatal(err)
	}
	if err := n.await(); err != nil {
		c.tb.Fatal(err)
	}
}

// Logs are what the brokers have said until now: starts, ends and warnings.
func (c *Cluster) Logs() string {
	all := slices.Clone(c.gone)
	for i, n := range c.nodes {
		all = append(all, heading(i, n.process))
	}
	return strings.Join(all, "")
}

func heading(broker int, p *service.Process) string {
	return fmt.Sprintf("== broker %d\n%s", broker, p.Output())
}

func (c *Cluster) check(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Error(err)
	}
}
