package adopting

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/adopting.md quotes is this package, word for word, so that it
// compiles and is tested.
func TestThePageQuotesTheCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/adopting.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, least := range map[string]int{"go": 11, "yaml": 1} {
		files := read(t, "*."+kind)
		quotes := strings.Split(string(page), "```"+kind+"\n")[1:]
		if len(quotes) < least {
			t.Errorf("there are %d quotes of %s, want %d", len(quotes), kind, least)
		}
		for _, rest := range quotes {
			if quote, _, _ := strings.Cut(rest, "```\n"); !strings.Contains(files, quote) {
				t.Errorf("this stands in no file:\n%s", quote)
			}
		}
	}
}

// read returns all files of a kind, one after another.
func read(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
