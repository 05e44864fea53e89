package policyfile

import "testing"

func TestTheNearestWord(t *testing.T) {
	known := []string{"max_attempts", "base", "cap", "breaker", "bulkhead", "off"}
	for word, want := range map[string]string{
		"maxAttempts": "max_attempts", "max-attempts": "max_attempts", "MaxAtempts": "max_attempts",
		"brekaer": "breaker", "braker": "breaker", "bse": "base", "of": "off",
		"timeout": "", "x": "", "": "", "zzzz": "",
	} {
		got, ok := nearest(word, known)
		if got != want || ok != (want != "") {
			t.Errorf("nearest(%q) is %q, want %q", word, got, want)
		}
	}
}
