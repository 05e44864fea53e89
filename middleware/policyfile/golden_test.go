package policyfile_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

var update = flag.Bool("update", false, "write the files that the tests compare with")

// golden compares got with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not up to date (go test -update writes it); got:\n%s", file, got)
	}
}

// parseFile parses a file of testdata by its bare name.
func parseFile(t *testing.T, name string) (*policyfile.Policies, error) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return policyfile.Parse(name, data)
}

func TestTheListOfFaultsIsTheGoldenOne(t *testing.T) {
	for _, name := range []string{"faults", "syntax", "tabs"} {
		_, err := parseFile(t, name+".yaml")
		if !errors.Is(err, policyfile.ErrInvalid) {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, "testdata/"+name+".golden", err.Error()+"\n")
	}
}

func TestTheExplanationIsTheGoldenOne(t *testing.T) {
	p, err := parseFile(t, "policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := p.Explain(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/explain.golden", b.String())
}

func TestThePublishedSchemaIsUpToDate(t *testing.T) {
	golden(t, "policy.schema.json", string(policyfile.Schema()))
}
