package brokers

import (
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

// StartFake starts kfake as one broker within this process, closes it at the
// end of the test, and returns its addresses. options are kfake's own.
func StartFake(tb testing.TB, options ...kfake.Opt) (addrs []string) {
	tb.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c.ListenAddrs()
}

// FakeProcess is kfake as a process of its own that keeps its data in a
// folder. Its methods are for one goroutine; they fail the test that it was
// started for.
type FakeProcess struct {
	// Addr is where it listens, as host:port; also after a Restart.
	Addr string

	tb      testing.TB
	program string
	dir     string
	port    int
	process *service.Process
}

// StartFakeProcess builds kfake, starts it, and kills it at the end of the
// test.
func StartFakeProcess(tb testing.TB) *FakeProcess {
	tb.Helper()
	f := &FakeProcess{tb: tb, dir: tb.TempDir()}
	f.program = filepath.Join(f.dir, "kfake")
	build := exec.CommandContext(tb.Context(), "go", "build", "-o", f.program, //nolint:gosec // our own command
		"github.com/backstay-go/backstay/e2e/cmd/kfake")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build kfake: %v\n%s", err, out)
	}
	ports, err := service.FreePorts(1)
	if err != nil {
		tb.Fatal(err)
	}
	f.port, f.Addr = ports[0], service.Loopback(ports[0])
	tb.Cleanup(f.Kill)
	f.start()
	return f
}

// start starts it and waits until it answers.
func (f *FakeProcess) start() {
	f.tb.Helper()
	var err error
	f.process, err = service.Start(f.program, f.dir,
		"-port", strconv.Itoa(f.port), "-dir", filepath.Join(f.dir, "data"))
	if err == nil {
		err = f.process.Await(f.dial)
	}
	if err != nil {
		f.tb.Fatal(err)
	}
}

func (f *FakeProcess) dial() error {
	conn, err := net.DialTimeout("tcp", f.Addr, time.Second) //nolint:noctx // bounded
	if err != nil {
		return err
	}
	return conn.Close()
}

// Kill ends it without a warning. To kill it again does nothing.
func (f *FakeProcess) Kill() {
	f.tb.Helper()
	if f.process == nil {
		return
	}
	if err := f.process.Kill(); err != nil {
		f.tb.Error(err)
	}
}

// Restart kills it, if it runs, and starts it again on its data.
func (f *FakeProcess) Restart() { f.tb.Helper(); f.Kill(); f.start() }
