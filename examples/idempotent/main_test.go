package main

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestACardIsChargedAsOftenAsTheSceneSays(t *testing.T) {
	for _, row := range []struct {
		name    string
		play    func(context.Context, *bank, *shop) error
		says    []string
		charges int
	}{
		{"trying again without a key charges twice", simplyAgain,
			[]string{"no answer, so again", "charge-2"}, 2},
		{"trying again with the key gets the lost answer", sameKey,
			[]string{"charge-1", "(replayed)", "success after 2 attempts", "byte for byte: true"}, 1},
		{"two clicks are one charge", doubleClick,
			[]string{"charge-1", "(replayed)", "byte for byte: true"}, 1},
		{"a key stands for one amount", otherAmount,
			[]string{"201 Created", "422 Unprocessable", "key_mismatch"}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			b, err := scene{row.name, row.play}.perform(t.Context(), &out)
			if err != nil {
				t.Fatal(err)
			}
			if len(b.charges) != row.charges {
				t.Errorf("charged %v, want %d charges", b.charges, row.charges)
			}
			for _, words := range row.says {
				if !strings.Contains(out.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, &out)
				}
			}
		})
	}
}

func TestNothingOutlivesTheScene(t *testing.T) {
	before := runtime.NumGoroutine()
	if err := tell(t.Context(), new(bytes.Buffer)); err != nil {
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
