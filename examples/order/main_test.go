package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

// TestMain takes orders in place of the tests, if this is the process that does.
func TestMain(m *testing.M) {
	if drill.Folder() == "" {
		os.Exit(m.Run())
	}
	if err := tell(context.Background(), os.Stdout, day{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestEveryOrderIsChargedOnceHoweverOftenTheProcessDies(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out, day{customers: 4, orders: 15, kills: 2}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, words := range []string{"60 orders:", "refused for their cards", "The process was killed"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("it does not say %q:\n%s", words, &out)
		}
	}
}
