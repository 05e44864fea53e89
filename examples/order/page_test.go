package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePageShowsTheCodeThatRuns(t *testing.T) {
	page, err := os.ReadFile("../../docs/together.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	for _, b := range blocks {
		if b, _, _ = strings.Cut(b, "```"); !strings.Contains(code.String(), b) {
			t.Errorf("this is not in the example:\n%s", b)
		}
	}
	if len(blocks) < 5 {
		t.Errorf("%d blocks of code", len(blocks))
	}
}
