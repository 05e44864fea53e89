// Package marked writes what was measured into a file that people write too:
// between two lines of it.
package marked

import (
	"errors"
	"os"
	"strings"
)

// Section is what is measured at once. Its text stands between two lines of its
// own: <!-- NAME:begin --> and <!-- NAME:end -->.
type Section string

// The sections that there are.
const (
	Bench    Section = "bench"    // calls, beside others'
	Recovery Section = "recovery" // takeovers
)

func (s Section) begin() string { return "<!-- " + string(s) + ":begin -->" }

func (s Section) end() string { return "<!-- " + string(s) + ":end -->" }

// Check returns an error if the file called name cannot be updated. It is for
// those who measure for minutes first.
func (s Section) Check(name string) error {
	_, err := s.with(name, "")
	return err
}

// Update puts text between the lines of the file called name.
func (s Section) Update(name, text string) error {
	changed, err := s.with(name, text)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(changed), 0o644) //nolint:gosec // the file is there, and has its mode
}

// with returns what the file called name will be with text in it.
func (s Section) with(name, text string) (string, error) {
	have, err := os.ReadFile(name) //nolint:gosec // the file that the caller names
	if err != nil {
		return "", err
	}
	return s.between(string(have), text)
}

// between replaces what stands between the two lines.
func (s Section) between(have, text string) (string, error) {
	before, rest, ok := strings.Cut(have, s.begin())
	_, after, also := strings.Cut(rest, s.end())
	if !ok || !also {
		return "", errors.New("the file has no lines " + s.begin() + " and " + s.end())
	}
	return before + s.begin() + "\n" + text + s.end() + after, nil
}
