package service_test

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

// says asks the server at addr something, and returns what comes within d.
func says(t *testing.T, addr, question string, d time.Duration) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(d))
	if _, err := conn.Write([]byte(question + "\r\n")); err != nil {
		return "", err
	}
	answer := make([]byte, 128)
	n, err := conn.Read(answer)
	return string(answer[:n]), err
}

func TestRedisAnswersIsPausedContinuedKilledAndRestarted(t *testing.T) {
	server := service.StartRedis(t)
	if got, err := says(t, server.Addr, "SET k v", 5*time.Second); got != "+OK\r\n" {
		t.Fatalf("at first: %q, %v", got, err)
	}
	server.Pause()
	if got, err := says(t, server.Addr, "GET k", 50*time.Millisecond); !os.IsTimeout(err) {
		t.Errorf("paused: %q, %v, want no answer", got, err)
	}
	server.Continue()
	if got, err := says(t, server.Addr, "GET k", 5*time.Second); got != "$1\r\nv\r\n" {
		t.Errorf("continued: %q, %v, want what was set", got, err)
	}
	server.Kill()
	server.Kill()
	if got, err := says(t, server.Addr, "GET k", time.Second); err == nil || os.IsTimeout(err) {
		t.Errorf("killed: %q, %v, want to be refused", got, err)
	}
	server.Restart()
	if got, err := says(t, server.Addr, "GET k", 5*time.Second); got != "$-1\r\n" {
		t.Errorf("restarted: %q, %v, want to find nothing", got, err)
	}
	server.Pause() // the end of the test kills it all the same
}

func TestRedisTakesSettings(t *testing.T) {
	server := service.StartRedis(t, "--maxmemory", "10mb")
	if got, err := says(t, server.Addr, "CONFIG GET maxmemory", 5*time.Second); !strings.Contains(got, "10485760") {
		t.Errorf("%q, %v", got, err)
	}
}
