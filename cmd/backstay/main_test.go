package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

const (
	goodFile = "targets:\n  pay: on\n"
	badFile  = "targets:\n  pay: {retry: {maxAttempts: 2}}\n"
)

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := file("service.json", `{"methodConfig": [{"name": [{"service": "a.B"}], "timeout": "1s"}], "healthCheckConfig": {}}`)
	good, bad := file("good.yaml", goodFile), file("bad.yaml", badFile)
	for _, c := range []struct {
		args      []string
		status    int
		out, errs string // in part; "" is nothing at all
	}{
		{nil, misuse, "", "usage: backstay"},
		{[]string{"help"}, well, "usage: backstay", ""},
		{[]string{"--help"}, well, "usage: backstay", ""},
		{[]string{"check", "-h"}, well, "usage: backstay", ""},
		{[]string{"explain", good, "--help"}, well, "usage: backstay", ""},
		{[]string{"check", "-v", good}, misuse, "", "backstay: unknown flag -v (backstay help shows what there is)\n"},
		{[]string{"chek", good}, misuse, "", "backstay: unknown command \"chek\"; known: check, explain, schema, import, actors, help (backstay help shows what there is)\n"},
		{[]string{"check"}, misuse, "", "wrong number of arguments"},
		{[]string{"explain"}, misuse, "", "wrong number of arguments"},
		{[]string{"schema", "a", "b"}, misuse, "", "wrong number of arguments"},
		{[]string{"check", good}, well, "good.yaml: ok, 1 target\n", ""},
		{[]string{"check", file("server.yaml", "server: on\n")}, well, "server.yaml: ok, a server\n", ""},
		{[]string{"check", file("both.yaml", "server: on\n"+goodFile)}, well, "both.yaml: ok, 1 target and a server\n", ""},
		{[]string{"check", bad, good}, faulty, "good.yaml: ok, 1 target\n", "bad.yaml:2:17: targets.pay.retry.maxAttempts: unknown key\n\tdid you mean max_attempts?\n"},
		{[]string{"check", filepath.Join(dir, "none.yaml")}, faulty, "", "no such file"},
		{[]string{"explain", good}, well, "max_attempts      3", ""},
		{[]string{"explain", good, "pay"}, well, "3 requests, at most 10s", ""},
		{[]string{"explain", filepath.Join(dir, "both.yaml"), "server"}, well, "server    ", ""},
		{[]string{"explain", good, "pya"}, faulty, "", "has no target pya; did you mean pay?"},
		{[]string{"explain", bad}, faulty, "", "bad.yaml: 1 fault\n"},
		{[]string{"import"}, misuse, "", "wrong number of arguments"},
		{[]string{"import", config}, well, "  a.B:\n    extends: none\n    match:\n      - {grpc: a.B}\n    deadline:\n      total: 1s\n", "note: "},
		{[]string{"import", good}, faulty, "", "good.yaml: 1 fault\n"},
		{[]string{"import", filepath.Join(dir, "none.json")}, faulty, "", "no such file"},
		{[]string{"schema"}, well, "json-schema.org", ""},
		{[]string{"schema", filepath.Join(dir, "none", "x.json")}, faulty, "", "backstay: open"},
	} {
		var out, errs bytes.Buffer
		status := run(c.args, &out, &errs)
		if status != c.status || !says(out.String(), c.out) || !says(errs.String(), c.errs) {
			t.Errorf("%v: status %d, want %d; said\n%s\nand\n%s", c.args, status, c.status, &out, &errs)
		}
	}
}

func says(got, want string) bool {
	return want == "" && got == "" || want != "" && strings.Contains(got, want)
}

func TestSchemaIsWrittenToAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	if status := run([]string{"schema", path}, &bytes.Buffer{}, &bytes.Buffer{}); status != well {
		t.Fatalf("status %d", status)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, policyfile.Schema()) {
		t.Errorf("it is not the schema (%v)", err)
	}
}

// Operators have the command, and no clone.
func TestTextsForOperatorsNameTheInstalledCommand(t *testing.T) {
	for file, want := range map[string]string{
		"../../README.md":                      "go install github.com/backstay-go/backstay/cmd/backstay@latest",
		"../../docs/policies.md":               "go install github.com/backstay-go/backstay/cmd/backstay@latest",
		"../../examples/telemetry/alerts.yaml": "backstay actors inspect URL",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q", file, want)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.Contains(line, "go run ./cmd/backstay") && !strings.Contains(line, "in a clone") {
				t.Errorf("%s takes a clone for granted: %s", file, line)
			}
		}
	}
}
