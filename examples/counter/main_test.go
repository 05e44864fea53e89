package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

// The process that is killed is this test's own program, started anew.
func TestMain(m *testing.M) {
	if drill.Folder() != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheCountersAreRightThatShouldBe(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, line := range []string{
		"the actor's own value:                         150\n",
		"a file, read, then written in a tail call:     150\n",
		"a file, read and written in one step:",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("it does not say %q:\n%s", line, &out)
		}
	}
}
