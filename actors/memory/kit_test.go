package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

var (
	here  = journal.Partition{Type: "t", Index: 0}
	there = journal.Partition{Type: "t", Index: 1}
)

// opened opens a log in files, which are small; the test must close it.
func opened(t *testing.T, dir string, options ...Option) *Log {
	t.Helper()
	l, err := Open(dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLog(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// add appends, one batch each.
func add(t *testing.T, l *Log, p journal.Partition, all ...string) {
	t.Helper()
	for _, data := range all {
		if err := try(t, l, p, data); err != nil {
			t.Fatal(err)
		}
	}
}

func try(t *testing.T, l *Log, p journal.Partition, data string) error {
	t.Helper()
	acked := make(chan error, 1)
	l.Append(p, []byte(data), func(_ journal.Place, err error) { acked <- err })
	select {
	case err := <-acked:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("an append was not acknowledged")
		return nil
	}
}

// content is what a partition has, as "offset data".
func content(t *testing.T, l *Log, p journal.Partition) (all []string) {
	t.Helper()
	first, _, err := l.Bounds(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(p, first, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		entries, err := r.Poll(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			return all
		}
		for _, e := range entries {
			all = append(all, fmt.Sprintf("%d %s", e.Offset, e.Data))
		}
	}
}

func expect(t *testing.T, l *Log, p journal.Partition, want ...string) {
	t.Helper()
	if got := content(t, l, p); !slices.Equal(got, want) {
		t.Errorf("%v has %q, want %q", p, got, want)
	}
}

// files are those of the log, oldest first.
func files(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
