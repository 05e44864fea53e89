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
	process *process
}

// StartRedis starts a redis-server that is empty and answers, and kills it at
// the end of the test. settings are more of its command line, for example
// "--maxmemory", "10mb"; without any it keeps everything in memory.
func StartRedis(tb testing.TB, settings ...string) *Redis {
	tb.Helper()
	r := &Redis{tb: tb, dir: tb.TempDir(), args: settings}
	r.path = find(tb, "redis-server", "apt-get install redis-server (Debian, Ubuntu), brew install redis (macOS)")
	tb.Cleanup(r.Kill)
	const tries = 3 // somebody else may be given the port meanwhile
	for try := 1; ; try++ {
		port := freePort(tb)
		r.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		err := r.start(port)
		if err == nil {
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
	if r.process, err = start(r.path, r.dir, args...); err != nil {
		return err
	}
	return r.process.await(func() error { return ping(r.Addr) })
}

// Pause stops the process where it is: it accepts connections, and answers
// nothing.
func (r *Redis) Pause() { r.tb.Helper(); r.process.signal(r.tb, syscall.SIGSTOP) }

// Continue lets it go on: it answers what was asked meanwhile.
func (r *Redis) Continue() { r.tb.Helper(); r.process.signal(r.tb, syscall.SIGCONT) }

// Kill ends it without a warning: connections are refused from now on, and what
// it had in memory is gone. To kill it again does nothing.
func (r *Redis) Kill() {
	r.tb.Helper()
	if r.process != nil {
		r.process.kill(r.tb)
		r.process = nil
	}
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
