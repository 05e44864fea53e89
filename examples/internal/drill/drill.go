// Package drill kills a program in the middle of its work, again and again,
// and starts it anew each time, as a bad day would. The work goes on in a
// process of its own, so that nothing but files survives.
package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"
)

// folder is the variable that tells a process to work, and where.
const folder = "BACKSTAY_DRILL_FOLDER"

// Folder is where this process is to work; empty if it is the one that looks
// on.
func Folder() string { return os.Getenv(folder) }

// Attended returns a context for a process that works until it is told to stop:
// it ends when the drill is over, or when nobody looks on any more.
func Attended(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	go func() {
		defer end()
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed, by whomever
	}()
	return ctx
}

// Drill says how bad the day is.
type Drill struct {
	// Dir is the folder that the process works in; empty means a new one, which
	// is removed at the end.
	Dir string
	// Kills is how often the process is killed before it may finish.
	Kills int
	// Within is the longest it lives before it is killed, Least the shortest.
	Least, Within time.Duration
	// Over tells a process that works until it is told, see [Attended], to
	// finish; it is not killed any more then. nil: it finishes by itself.
	Over <-chan struct{}
	// Args are the process's arguments; nil means those of this one.
	Args []string
	// Killed, if not nil, is told when the process was killed.
	Killed func(at time.Time)
	// Out is where the process prints.
	Out io.Writer
}

// Run starts this program anew, kills it as told, and
// returns how often it did once a process has finished by itself.
func (d Drill) Run(ctx context.Context) (kills int, err error) {
	dir := d.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "backstay-drill-"); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	for {
		killed, err := d.live(ctx, dir, kills < d.Kills)
		if err != nil || !killed {
			return kills, err
		}
		kills++
	}
}

// live is one life of the process.
func (d Drill) live(ctx context.Context, dir string, mortal bool) (killed bool, err error) {
	c, tell, err := d.start(ctx, dir)
	if err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var kill <-chan time.Time
	if mortal {
		kill = time.After(d.Least + rand.N(d.Within-d.Least)) //nolint:gosec // no secret
	}
	for over := d.Over; ; {
		select {
		case err := <-ended:
			if err != nil {
				return false, fmt.Errorf("the process failed by itself: %w", err)
			}
			return false, nil
		case <-over:
			over, kill = nil, nil
			tell()
		case <-kill:
			return d.kill(c.Process, ended)
		}
	}
}

// kill ends a life, unless it has ended in that very moment.
func (d Drill) kill(p *os.Process, ended <-chan error) (killed bool, err error) {
	at := time.Now()
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, err
	}
	if err := <-ended; err == nil {
		return false, nil
	}
	if d.Killed != nil {
		d.Killed(at)
	}
	return true, nil
}

// start begins a life. tell lets the process know that the drill is over.
func (d Drill) start(ctx context.Context, dir string) (c *exec.Cmd, tell func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	args := d.Args
	if args == nil {
		args = os.Args[1:]
	}
	c = exec.CommandContext(ctx, program, args...) //nolint:gosec // this very program
	c.Env = append(os.Environ(), folder+"="+dir)
	c.Stdout, c.Stderr = d.Out, d.Out
	if d.Over == nil {
		return c, nil, c.Start()
	}
	attention, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = attention.Close() }, c.Start()
}
