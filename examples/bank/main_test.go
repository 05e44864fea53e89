package main

import (
	"bytes"
	"fmt"
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

func TestNoCentIsLostOrMade(t *testing.T) {
	var out bytes.Buffer
	if err := tell(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if line := "120000 cents, of 120000 at the beginning"; !strings.Contains(out.String(), line) {
		t.Errorf("it does not say %q:\n%s", line, &out)
	}
	var arrived, back, refused int
	_, counts, _ := strings.Cut(out.String(), ":\n")
	if _, err := fmt.Sscanf(counts, "  %d arrived, %d came back from an account that does not exist, %d were refused", &arrived, &back, &refused); err != nil {
		t.Fatal(err)
	}
	if sum := arrived + back + refused; sum != transfers || arrived == 0 || back == 0 || refused == 0 {
		t.Errorf("%d transfers were answered, want %d, some of each kind:\n%s", sum, transfers, &out)
	}
}
