package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// line is what a process of examples/shipping says in a drill.
type line struct {
	Time     time.Time     `json:"time"`
	What     string        `json:"msg"`
	Key      string        `json:"key"` // the partition
	Reason   string        `json:"reason"`
	Elapsed  time.Duration `json:"elapsed"`
	Took     time.Duration `json:"took"`
	Type     string        `json:"type"`
	ID       string        `json:"id"`
	Instance string        `json:"instance"`
	Error    string        `json:"error"`
	Point    string        `json:"point"`

	from *process
}

// process is one of them. Its methods are for one goroutine.
type process struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	said  bytes.Buffer  // on its standard error; whole when it has ended
	ended chan struct{} // closed when it is gone, and all that it said is heard
	code  int
}

// build makes the program.
func build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "shipping")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, //nolint:gosec // our own
		"github.com/backstay-go/backstay/examples/shipping").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build shipping: %w\n%s", err, out)
	}
	return program, nil
}

// start starts one; hear is told what it says, which is copied to a file, if
// there is one.
func start(program, name string, hear func(line), copied *os.File, args ...string) (*process, error) {
	p := &process{name: name, ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...) //nolint:gosec,noctx // it ends with its standard input, or is killed
	p.cmd.Stderr = &p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		p.listen(out, hear, copied)
		_ = p.cmd.Wait() // the code says it
		p.code = p.cmd.ProcessState.ExitCode()
	}()
	return p, nil
}

func (p *process) listen(out io.Reader, hear func(line), copied *os.File) {
	if copied != nil {
		out = io.TeeReader(out, copied)
		defer func() { _ = copied.Close() }() // nobody depends on it
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l := line{from: p}
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			hear(l)
		}
	}
}

// alive reports whether it has not ended.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// signal sends one, and returns when.
func (p *process) signal(s os.Signal) time.Time {
	at := time.Now()
	_ = p.cmd.Process.Signal(s) // it may be gone
	return at
}

// kill ends it, also when it is frozen, and returns when it was killed.
func (p *process) kill() time.Time {
	at := p.signal(syscall.SIGKILL)
	<-p.ended
	return at
}

// arm has it die when it has been at these points.
func (p *process) arm(points string) { _, _ = io.WriteString(p.in, points+"\n") }

// end closes its standard input, and waits.
func (p *process) end(ctx context.Context) error {
	_ = p.in.Close()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("%s does not end", p.name)
	}
	if p.code != 0 {
		return fmt.Errorf("%s ended with %d: %s", p.name, p.code, p.said.String())
	}
	return nil
}
