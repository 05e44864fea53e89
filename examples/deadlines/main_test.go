package main

import (
	"bytes"
	"regexp"
	"runtime"
	"testing"
	"time"
)

func TestNobodyWorksForACallerWhoHasLeft(t *testing.T) {
	var worked, wasted [3]time.Duration
	var told [3]bytes.Buffer
	for i, s := range scenes {
		c, err := s.play(t.Context(), &told[i])
		if err != nil {
			t.Fatal(err)
		}
		worked[i], wasted[i] = c.work.done(), c.work.wasted()
	}
	if wasted[0] < 10*step {
		t.Errorf("as usual, %v of %v was done too late: this shows nothing\n%s", wasted[0], worked[0], &told[0])
	}
	for i := 1; i < 3; i++ {
		if wasted[i] > 2*step || worked[i] >= worked[0] {
			t.Errorf("with deadlines, %v of %v was done too late\n%s", wasted[i], worked[i], &told[i])
		}
	}
	if want := regexp.MustCompile(`orders +refuses: .* too late|gateway +stops`); !want.Match(told[2].Bytes()) {
		t.Errorf("nobody refuses what cannot end in time:\n%s", &told[2])
	}
	if n := bytes.Count(told[2].Bytes(), []byte("refuses")); n > 1 {
		t.Errorf("what was refused for good is tried again:\n%s", &told[2])
	}
	if bytes.Contains(told[2].Bytes(), []byte("stock")) {
		t.Errorf("stock is asked although orders is too late:\n%s", &told[2])
	}
}

func TestNothingOutlivesTheChain(t *testing.T) {
	before := runtime.NumGoroutine()
	if _, err := scenes[2].play(t.Context(), new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	for range 500 { // connections end in the background
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
