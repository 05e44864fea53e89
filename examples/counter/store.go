package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// pause is how long the work of a moment takes here, so that processes die in
// the middle of it.
const pause = 2 * time.Millisecond

// store is a store outside of the actors: one file a counter.
type store struct{ dir string }

func (s store) get(name string) (int, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, name)) //nolint:gosec // in the folder of the drill
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

// set puts the new file in the place of the old one, and takes its time until
// it returns.
func (s store) set(name string, sum int) error {
	next := filepath.Join(s.dir, name+".next")
	if err := os.WriteFile(next, []byte(strconv.Itoa(sum)), 0o600); err != nil {
		return err
	}
	err := os.Rename(next, filepath.Join(s.dir, name))
	time.Sleep(pause)
	return err
}
