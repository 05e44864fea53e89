package main

import (
	"errors"
	"os"
	"strings"
)

const (
	begin = "<!-- bench:begin -->"
	end   = "<!-- bench:end -->"
)

// update puts a table into the file called name.
func update(name, table string) error {
	changed, err := with(table, name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(changed), 0o644)
}

// with returns what the file called name will be with a table in it.
func with(table, name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	return between(string(text), table)
}

// between replaces what stands between the two markers of text.
func between(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	_, after, also := strings.Cut(rest, end)
	if !ok || !also {
		return "", errors.New("the README has no lines " + begin + " and " + end + " for the table")
	}
	return before + begin + "\n" + table + end + after, nil
}
