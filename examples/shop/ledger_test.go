package main

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTheLedgerSeesWhatMustNotHappen(t *testing.T) {
	for _, c := range []struct {
		name  string
		what  func(l *ledger)
		fault string // none if empty
	}{
		{"a good order", func(l *ledger) { l.reserve("o"); l.charge("o"); l.confirm("o") }, ""},
		{"charged twice", func(l *ledger) { l.reserve("o"); l.charge("o"); l.charge("o"); l.confirm("o") }, "charged 2 times"},
		{"reserved twice", func(l *ledger) { l.reserve("o"); l.reserve("o"); l.charge("o"); l.confirm("o") }, "reserved 2 times"},
		{"never confirmed", func(l *ledger) { l.reserve("o"); l.charge("o") }, "is lost"},
		{"confirmed and not charged", func(l *ledger) { l.reserve("o"); l.confirm("o") }, "is lost"},
		{"confirmed and not reserved", func(l *ledger) { l.charge("o"); l.confirm("o") }, "is lost"},
		{
			"charged once more when the books are closed",
			func(l *ledger) { l.reserve("o"); l.charge("o"); l.confirm("o"); l.close(); l.charge("o") }, "no open order",
		},
		{"a caller who waits for as long as it wanted", func(l *ledger) { l.wait(time.Second, time.Second); clear(l.orders) }, ""},
		{"a caller who waits longer", func(l *ledger) { l.wait(2*time.Second, time.Second) }, "waited 2s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLedger()
			l.place("o")
			c.what(l)
			l.close()
			err := l.err()
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("got %v, want %q", err, c.fault)
			}
		})
	}
}

func TestALeakIsAnError(t *testing.T) {
	for _, c := range []struct {
		name string
		last sample
		says string
	}{
		{"nothing has grown", sample{2 * time.Minute, 20, 4 << 20}, ""},
		{"a little has", sample{2 * time.Minute, 24, 5 << 20}, ""},
		{"goroutines have", sample{2 * time.Minute, 26, 4 << 20}, "goroutines leak"},
		{"memory has", sample{2 * time.Minute, 20, 7 << 20}, "memory leaks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l leaks
			l.add(sample{time.Second, 1, 1}) // not warm: does not count
			l.add(sample{time.Minute, 20, 4 << 20})
			l.add(c.last)
			if err := l.err(); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
	if err := new(leaks).err(); err != nil {
		t.Errorf("a short run leaks: %v", err)
	}
}

// nothingIsLeft fails the test where goroutines of the shop are left.
func nothingIsLeft(t *testing.T) {
	t.Helper()
	var stacks string
	for range 500 { // connections end in the background
		all := make([]byte, 1<<20)
		stacks = string(all[:runtime.Stack(all, true)])
		if !strings.Contains(stacks, "examples/shop.(") && !strings.Contains(stacks, "google.golang.org/grpc") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(stacks)
}
