package policyfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/backstay-go/backstay"
)

// read returns the content of a file, cut where it is too long to be taken.
func read(path string) ([]byte, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("policyfile: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("policyfile: %w", err)
	}
	return data, nil
}

// readFile is read for what can be read again: no pipe, which might make its
// reader wait for ever.
func readFile(path string) ([]byte, error) {
	is, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("policyfile: %w", err)
	}
	if !is.Mode().IsRegular() {
		return nil, fmt.Errorf("policyfile: %s cannot be followed: it is no regular file", path)
	}
	return read(path)
}

const (
	// settling is how long a file must be the same for its change to be over:
	// a file that is written in place is not taken half.
	settling = 20 * time.Millisecond
	// settlings is how often that is looked for, before the next tick.
	settlings = 10
)

// settled returns the content of the file once its change is over; changed is
// false where it is as it was.
func (l *Live) settled(ctx context.Context) (data []byte, changed bool, err error) {
	data, err = readFile(l.path)
	for range settlings {
		if err != nil || l.seen != nil && bytes.Equal(data, l.seen) {
			return nil, false, err
		}
		select {
		case <-ctx.Done():
			return nil, false, backstay.ContextError(ctx)
		case <-time.After(settling):
		}
		again, err := readFile(l.path)
		if err == nil && bytes.Equal(again, data) {
			return data, true, nil
		}
		data = again
		if err != nil {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("policyfile: %s does not come to rest", l.path)
}
