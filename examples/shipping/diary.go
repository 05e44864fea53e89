package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// diary is what the clients saw, in a file that outlives them: when each order
// was placed first, and when it was answered, and how.
type diary struct{ file *os.File }

// note is what is known of an order.
type note struct {
	placed, answered time.Time // zero: not yet
	state            State
}

func diaryIn(dir string) string { return filepath.Join(dir, "clients") }

func openDiary(dir string) (*diary, error) {
	f, err := os.OpenFile(diaryIn(dir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &diary{f}, err
}

// write adds a line, in one piece.
func (d *diary) write(i int, s State) error {
	_, err := fmt.Fprintf(d.file, "%d %s %d\n", i, s, time.Now().UnixNano())
	return err
}

// readDiary returns what is known of the orders, by their numbers.
func readDiary(dir string, orders int) ([]note, error) {
	notes := make([]note, orders)
	f, err := os.Open(diaryIn(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return notes, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var i int
		var s State
		var at int64
		if _, err := fmt.Sscan(lines.Text(), &i, &s, &at); err != nil || i < 0 || i >= orders {
			return nil, fmt.Errorf("a line of the diary reads %q: %w", lines.Text(), err)
		}
		switch n := &notes[i]; {
		case s == Placed && n.placed.IsZero():
			n.placed = time.Unix(0, at)
		case s != Placed && n.answered.IsZero():
			n.answered, n.state = time.Unix(0, at), s
		}
	}
	return notes, lines.Err()
}
