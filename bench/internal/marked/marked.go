// Package marked writes what was measured into a file that people write too:
// between two lines of it.
package marked

import (
	"errors"
	"os"
	"strings"
)

// The lines between which the file is changed.
const (
	Begin = "<!-- bench:begin -->"
	End   = "<!-- bench:end -->"
)

// Check returns an error if the file called name cannot be updated. It is for
// those who measure for minutes first.
func Check(name string) error {
	_, err := with(name, "")
	return err
}

// Update puts text between the lines of the file called name.
func Update(name, text string) error {
	changed, err := with(name, text)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(changed), 0o644) //nolint:gosec // the file is there, and has its mode
}

// with returns what the file called name will be with text in it.
func with(name, text string) (string, error) {
	have, err := os.ReadFile(name) //nolint:gosec // the file that the caller names
	if err != nil {
		return "", err
	}
	return between(string(have), text)
}

// between replaces what stands between the two lines.
func between(have, text string) (string, error) {
	before, rest, ok := strings.Cut(have, Begin)
	_, after, also := strings.Cut(rest, End)
	if !ok || !also {
		return "", errors.New("the file has no lines " + Begin + " and " + End)
	}
	return before + Begin + "\n" + text + End + after, nil
}
