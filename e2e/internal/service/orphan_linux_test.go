package service_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/backstay-go/backstay/e2e/internal/service"
)

const orphanage = "BACKSTAY_E2E_ORPHANAGE"

// TestOrphanage runs only below the test that kills it.
func TestOrphanage(t *testing.T) {
	if os.Getenv(orphanage) == "" {
		return
	}
	server := service.StartRedis(t)
	server.Pause()
	_, _ = os.Stdout.WriteString("at " + server.Addr + "\n")
	time.Sleep(time.Minute)
}

func TestAServerDiesWithAProcessOfTestsThatIsKilled(t *testing.T) {
	tests := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOrphanage$")
	tests.Env = append(os.Environ(), orphanage+"=1", "TMPDIR="+t.TempDir())
	out, err := tests.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tests.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	_ = tests.Process.Signal(syscall.SIGKILL)
	_ = tests.Wait()
	addr, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "at ")
	if !ok {
		t.Fatalf("it said %q", line[:n])
	}
	for range 100 {
		if _, err := says(t, addr, "PING", 50*time.Millisecond); err != nil && !os.IsTimeout(err) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("the server at %s outlives those who started it", addr)
}
