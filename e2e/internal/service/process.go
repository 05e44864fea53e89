package service

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a server may take to start or to end.
const patience = 20 * time.Second

// process is a server that runs, or ran. Its methods are for one goroutine.
type process struct {
	cmd    *exec.Cmd
	output output
	ended  chan struct{} // closed when it is gone
}

// find returns the path of a program, or fails the test.
func find(tb testing.TB, program, install string) string {
	tb.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		tb.Fatalf("%s is needed by this test and not installed: %s", program, install)
	}
	return path
}

// start starts a program in dir. The kernel kills it when the thread that
// started it ends: that thread does nothing else until the program is gone, so
// that this is the end of the process of the tests.
func start(path, dir string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), ended: make(chan struct{})} //nolint:gosec,noctx // ended by stop
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.output, &p.output
	p.cmd.SysProcAttr = orphansDie()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // it was killed, or tells why it ended
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// signal sends a signal; to a process that is gone it does nothing.
func (p *process) signal(tb testing.TB, s os.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Errorf("%v to %s: %v", s, p.cmd.Path, err)
	}
}

// kill ends the process without a warning, also if it is stopped, and waits
// until it is gone.
func (p *process) kill(tb testing.TB) {
	tb.Helper()
	p.signal(tb, syscall.SIGKILL)
	select {
	case <-p.ended:
	case <-time.After(patience):
		tb.Errorf("%s does not end; it said:\n%s", p.cmd.Path, &p.output)
	}
}

// await asks until the server answers. It returns early if the process ends.
func (p *process) await(ask func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it answered; it said:\n%s", p.cmd.Path, &p.output)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not answer: %w; it said:\n%s", p.cmd.Path, err, &p.output)
		}
	}
}

// freePort returns a port of the loopback that nobody listened on just now.
func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port //nolint:errcheck,forcetypeassert // tcp4 listens on no other
}

// output keeps what a server prints, for the error that wants it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is for exec.Cmd.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// String returns all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
