package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheStory(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"tea: 3.50, after 3 attempts",
		"order 1: tea (a replay: true); orders taken: 1",
		"less left than the first: true",
		"code unavailable, refused here: true, requests sent: 0",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story lacks %q:\n%s", want, &out)
		}
	}
}
