package policyfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/internal/testkit"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestLargeFilesTakeNoLongerThanTheyAreLong(t *testing.T) {
	if testkit.Race {
		t.Skip("measures time")
	}
	var hosts, chain, aliases strings.Builder
	hosts.WriteString("targets:\n")
	for i := range 4_000 {
		fmt.Fprintf(&hosts, "  t%d: {match: {host: h%d}}\n", i, i)
	}
	chain.WriteString("profiles:\n  p0: {}\n")
	for i := range 2_000 {
		fmt.Fprintf(&chain, "  p%d: {extends: p%d}\n", i+1, i)
	}
	chain.WriteString("targets:\n")
	for i := range 2_000 {
		fmt.Fprintf(&chain, "  t%d: {extends: p2000}\n", i)
	}
	aliases.WriteString("targets:\n  t: &t {retry: {max_attempts: 2, base: 1s}, match: &m [{host: a}, {host: b}]}\n")
	for i := range 4_000 {
		fmt.Fprintf(&aliases, "  t%d: *t\n", i)
	}
	for name, text := range map[string]string{
		"many hosts": hosts.String(), "a long chain": chain.String(), "many aliases": aliases.String(),
		"deep brackets": "targets: " + strings.Repeat("[", 100_000), "deep braces": strings.Repeat("{a: ", 100_000),
		"one long word": "targets: {a: {" + strings.Repeat("x", 500_000) + ": on}}",
	} {
		began := time.Now()
		_, err := policyfile.Parse("policies.yaml", []byte(text))
		if (err == nil) != (name == "many hosts") {
			t.Errorf("%s: %.200v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second { // minutes, were it quadratic
			t.Errorf("%s took %v", name, took)
		}
		t.Logf("%s: %v", name, time.Since(began))
	}
}
