package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
)

// result is one failure, a line of the file.
type result struct {
	Number int       `json:"number"`
	Seed   uint64    `json:"seed"`
	At     time.Time `json:"at"`
	Mode   string    `json:"mode"`
	// Point is where a process was to die, and Reached where it did.
	Point   string   `json:"point,omitempty"`
	Reached string   `json:"reached,omitempty"`
	Victims []string `json:"victims"`
	Owned   int      `json:"owned"` // partitions of the victims

	// Outage is until the last of those has answered; all times are in ns. After
	// a total failure it counts from the start.
	Outage time.Duration `json:"outage"`
	Phases phases        `json:"phases"`
	Last   string        `json:"last"` // the partition that was last
	// Others is the longest wait for an answer of all other partitions until
	// then, Before that of all in the second before, Return that of all
	// while the victim came back.
	Others time.Duration `json:"others"`
	Before time.Duration `json:"before"`
	Return time.Duration `json:"return"`
	// Orders are those around the failure, for some of the failures.
	Orders []sample `json:"orders,omitempty"`
	// Order is the longest that an order took that was placed between the
	// failure and its end.
	Order time.Duration `json:"order"`
	Load  string        `json:"load"`
	CPU   float64       `json:"cpu,omitempty"` // the part of it that was used, where nobody failed
	Took  time.Duration `json:"took"`          // with everything
	// Faults are what must not be.
	Faults []string `json:"faults,omitempty"`
}

// settled reports whether the system has come to rest after the failure.
func (r *result) settled() bool {
	return r.Outage > 0 || r.Mode == "busy" && len(r.Faults) == 0
}

// sample is an order: when it was placed, from the failure on, and how long it
// took.
type sample [2]time.Duration

// read returns the results of a file, none if it is not there.
func read(file string) (all []result, err error) {
	f, err := os.Open(file) //nolint:gosec // the user's
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, lines.Err()
}

// keep appends one, in one piece.
func keep(file string, r result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // the user's, for everybody
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}
