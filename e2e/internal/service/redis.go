package service

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Redis is a redis-server. Its methods are for one goroutine; they fail the
// test that it was started for.
type Redis struct {
	// Addr is where it listens, as host:port; also after a Restart.
	Addr string

	tb      testing.TB
	path    string
	dir     string
	args    []string
	process *Process
}

// StartRedis starts a redis-server that is empty and answers, and kills it at
// the end of the test. settings are more of its command line, for example
// "--maxmemory", "10mb"; without any it keeps everything in memory.
func StartRedis(tb testing.TB, settings ...string) *Redis {
	tb.Helper()
	r := &Redis{tb: tb, dir: tb.TempDir(), args: settings}
	var err error
	if r.path, err = Find("redis-server", "apt-get install redis-server (Debian, Ubuntu), brew install redis (macOS)"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Kill)
	const tries = 3 // somebody else may be given the port meanwhile
	for try := 1; ; try++ {
		ports, err := FreePorts(1)
		if err != nil {
			tb.Fatal(err)
		}
		r.Addr = Loopback(ports[0])
		if err = r.start(ports[0]); err == nil {
			return r
		}
		if r.Kill(); try == tries {
			tb.Fatal(err)
		}
	}
}

// start starts the process and waits until it answers.
func (r *Redis) start(port int) error {
	args := append([]string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
	}, r.args...)
	var err error
	if r.process, err = Start(r.path, r.dir, args...); err != nil {
		return err
	}
	return r.process.Await(func() error { return ping(r.Addr) })
}

// Pause stops the process where it is: it accepts connections, and answers
// nothing.
func (r *Redis) Pause() { r.tb.Helper(); r.signal(syscall.SIGSTOP) }

// Continue lets it go on: it answers what was asked meanwhile.
func (r *Redis) Continue() { r.tb.Helper(); r.signal(syscall.SIGCONT) }

func (r *Redis) signal(s syscall.Signal) {
	r.tb.Helper()
	if err := r.process.Signal(s); err != nil {
		r.tb.Error(err)
	}
}

// Kill ends it without a warning: connections are refused from now on, and what
// it had in memory is gone. To kill it again does nothing.
func (r *Redis) Kill() {
	r.tb.Helper()
	if r.process == nil {
		return
	}
	if err := r.process.Kill(); err != nil {
		r.tb.Error(err)
	}
	r.process = nil
}

// Restart kills it, if it runs, and starts it again at the same address.
func (r *Redis) Restart() {
	r.tb.Helper()
	r.Kill()
	_, port, err := net.SplitHostPort(r.Addr)
	if err != nil {
		r.tb.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		r.tb.Fatal(err)
	}
	if err := r.start(n); err != nil {
		r.tb.Fatal(err)
	}
}

// ping asks for a sign of life. A server that loads its data says so, and is
// asked again.
func ping(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second) //nolint:noctx // bounded
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return err
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	if err != nil {
		return err
	}
	if answer = answer[:n]; !bytes.HasPrefix(answer, []byte("+PONG")) {
		return fmt.Errorf("it answers %q to a ping", answer)
	}
	return nil
}
