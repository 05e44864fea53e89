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

func TestEverybodyEatsAsOftenAsHeShould(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if !strings.Contains(out.String(), "all have eaten: 60, 60, 60, 60, 60, 60, 60 times") {
		t.Errorf("it says:\n%s", &out)
	}
}
