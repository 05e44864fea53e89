package redis_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

// serve accepts connections on a loopback port and greets each as Redis does.
// then it answers every script with what answer writes.
func serve(t *testing.T, answer func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			all.Go(func() { converse(conn, answer) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return l.Addr().String()
}

// converse reads commands until the connection ends.
func converse(conn net.Conn, answer func(net.Conn)) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		command, err := readCommand(in)
		switch {
		case err != nil:
			return
		case strings.HasPrefix(strings.ToLower(command), "eval"):
			answer(conn)
		case strings.EqualFold(command, "hello"):
			_, _ = io.WriteString(conn, "-ERR unknown command\r\n")
		default:
			_, _ = io.WriteString(conn, "+OK\r\n")
		}
	}
}

// readCommand reads one command and returns its first word.
func readCommand(in *bufio.Reader) (first string, err error) {
	words, err := number(in, '*')
	for i := 0; i < words && err == nil; i++ {
		var size int
		if size, err = number(in, '$'); err != nil {
			return "", err
		}
		word := make([]byte, size+2)
		if _, err = io.ReadFull(in, word); i == 0 {
			first = string(word[:size])
		}
	}
	return first, err
}

func number(in *bufio.Reader, mark byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil || line[0] != mark {
		return 0, errors.Join(err, errors.New("no command"))
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// refused is an address that nobody listens at.
func refused(t *testing.T) string {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// says is a server that answers every script so.
func says(t *testing.T, text string) string {
	return serve(t, func(conn net.Conn) { _, _ = io.WriteString(conn, text) })
}

// broken are servers of which no operation can come to anything.
var broken = map[string]func(t *testing.T) string{
	"it refuses connections":        refused,
	"it never answers":              func(t *testing.T) string { return serve(t, func(net.Conn) {}) },
	"it hangs up":                   func(t *testing.T) string { return serve(t, func(conn net.Conn) { _ = conn.Close() }) },
	"it stops in the middle":        func(t *testing.T) string { return says(t, "*2\r\n:3\r\n$100\r\nhalf") },
	"it speaks another protocol":    func(t *testing.T) string { return says(t, "HTTP/1.1 400 Bad Request\r\n\r\n") },
	"it writes bytes":               func(t *testing.T) string { return says(t, "\x00\xff\x00\xff\r\n") },
	"it answers with a text":        func(t *testing.T) string { return says(t, "+PONG\r\n") },
	"it answers with nothing":       func(t *testing.T) string { return says(t, "$-1\r\n") },
	"it answers with a list":        func(t *testing.T) string { return says(t, "*3\r\n:1\r\n:2\r\n:3\r\n") },
	"it has no right to the script": func(t *testing.T) string { return says(t, "-NOPERM no\r\n") },
	"it is loading":                 func(t *testing.T) string { return says(t, "-LOADING data\r\n") },
}

// dial is a client of go-redis as the documentation recommends it.
func dial(t *testing.T, addr string) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: addr, ContextTimeoutEnabled: true, DialerRetries: 1, MaxRetries: 1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAServerThatIsBrokenIsAnErrorInTime(t *testing.T) {
	for name, server := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			s, _ := open(t, redis.Config{Timeout: 100 * time.Millisecond}, dial(t, server(t)))
			for op, step := range steps {
				began := time.Now()
				if err := step(t.Context(), s); !errors.Is(err, redis.ErrFailed) {
					t.Errorf("%s: %v, want ErrFailed", op, err)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("%s took %v", op, took)
				}
			}
		})
	}
}

func TestAServerThatIsBrokenStopsNoWorkThatIsLetThrough(t *testing.T) {
	for name, server := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			s, _ := open(t, redis.Config{Timeout: 100 * time.Millisecond, WhenDown: redis.LetThrough}, dial(t, server(t)))
			guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, s)
			began := time.Now()
			got, _, err := guard.Run(t.Context(), idempotency.Request{Key: "k"}, func(context.Context) (idempotency.Answer, error) {
				return idempotency.Answer{Data: []byte("answer")}, nil
			})
			if took := time.Since(began); err != nil || string(got.Data) != "answer" || took > 2*time.Second {
				t.Errorf("%q, %v after %v", got.Data, err, took)
			}
		})
	}
}

func TestAServerThatAnswersIsUnderstood(t *testing.T) {
	s, _ := open(t, redis.Config{}, dial(t, says(t, "*2\r\n:3\r\n$6\r\nanswer\r\n")))
	got, err := s.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Minute)
	if err != nil || got.State != idempotency.Completed || string(got.Record.Answer) != "answer" {
		t.Errorf("%+v, %v", got, err)
	}
}
