//go:build unix

package memory

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the lock that the process has until the file is closed, or
// it dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // in the folder that the user gave
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // a descriptor
		_ = f.Close() // the first error says it
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another process, or another Log of this one, has it open")
		}
		return nil, err
	}
	return f, nil
}
