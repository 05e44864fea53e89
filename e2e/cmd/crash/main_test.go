package main

import "testing"

func TestTheCommandLineIsLookedAt(t *testing.T) {
	for _, args := range [][]string{{"-modes", "storm"}, {"-failures", "0"}, {"-chapter", "0"}, {"-pause", "-1s"}, {"-nothing"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}
