//go:build unix

package policyfile_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestAHangupReloads(t *testing.T) {
	path := t.TempDir() + "/policies.yaml"
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("targets: {pay: on}")
	live, err := policyfile.Watch(t.Context(), path, policyfile.WithEvery(0))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	changed := make(chan middleware.Target, 1)
	live.Subscribe("pay", func(t middleware.Target) { changed <- t })
	write("targets: {pay: {hedge: on}}")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case target := <-changed:
		if target.Hedge == nil {
			t.Error("it got the old target")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing happened")
	}
}
