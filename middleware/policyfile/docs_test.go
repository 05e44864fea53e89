package policyfile_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// The files that the documentation shows are read, and are what it says.
func TestTheDocumentedFilesHaveNoFaults(t *testing.T) {
	synctest.Test(t, theDocumentedFilesHaveNoFaults) // in which no fault is over
}

func theDocumentedFilesHaveNoFaults(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Split(string(text), "```yaml\n")[1:]
	if len(files) == 0 {
		t.Fatal("there is none")
	}
	for i, rest := range files {
		file, _, _ := strings.Cut(rest, "```\n")
		p, err := policyfile.Parse("policies.md", []byte(file))
		if err != nil {
			t.Errorf("file %d: %v", i, err)
			continue
		}
		for target := range p.All {
			if _, err := middleware.New(*target); err != nil {
				t.Errorf("file %d: %s cannot be built: %v", i, target.Name, err)
			}
		}
		for _, n := range p.Notes() {
			if p.Target(strings.TrimPrefix(n.Path, "targets.")).Faults == nil { // else it says where faults act
				t.Errorf("file %d: %v", i, n)
			}
		}
	}
}

func TestTheDocumentedErrorIsTheOne(t *testing.T) {
	text, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policyfile.Parse("policies.yaml", []byte("targets: {payments: on, inventory: on}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := middleware.New(p.Target("paymets")); err == nil || !strings.Contains(string(text), err.Error()) {
		t.Errorf("%v is not what the documentation says", err)
	}
}
