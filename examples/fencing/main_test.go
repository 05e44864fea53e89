package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestOnlyTheStoreThatComparesTokensIsRight(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"a store that takes all:        100 + 10 + 5 is 110; of the sleeper's write it says: <nil>\n",
		"a store that compares tokens:  100 + 10 + 5 is 115; of the sleeper's write it says: a newer owner has written: token 2, not 1\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("it does not say %q:\n%s", line, &out)
		}
	}
}
