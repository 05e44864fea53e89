package service

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Patience is how long a server may take to start or to end.
const Patience = 2 * time.Minute

// Process is a server that runs, or ran. It is safe for concurrent use.
type Process struct {
	cmd    *exec.Cmd
	output output
	ended  chan struct{} // closed when it is gone
}

// Find returns the path of a program, or an error that says how to install it.
func Find(program, install string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%s is needed by this test and not installed: %s", program, install)
	}
	return path, nil
}

// Start starts a program in dir. The kernel kills it when the thread that
// started it ends: that thread does nothing else until the program is gone, so
// that this is the end of the process of the tests.
func Start(path, dir string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.Command(path, args...), ended: make(chan struct{})} //nolint:gosec,noctx // ended by End
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

// Signal sends a signal; to a process that is gone it does nothing.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%v to %s: %w", s, p.cmd.Path, err)
	}
	return nil
}

// Kill ends the process without a warning, also if it is stopped, and waits
// until it is gone.
func (p *Process) Kill() error { return p.End(syscall.SIGKILL) }

// End sends a signal and waits until the process is gone.
func (p *Process) End(s os.Signal) error {
	if err := p.Signal(s); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(Patience):
		return fmt.Errorf("%s does not end; it said:\n%s", p.cmd.Path, p.Output())
	}
}

// Await asks until the server answers. It returns early if the process ends.
func (p *Process) Await(ask func() error) error {
	deadline := time.Now().Add(Patience)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it answered; it said:\n%s", p.cmd.Path, p.Output())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not answer: %w; it said:\n%s", p.cmd.Path, err, p.Output())
		}
	}
}

// Output is what it has printed until now.
func (p *Process) Output() string { return p.output.String() }
