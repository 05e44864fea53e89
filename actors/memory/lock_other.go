//go:build !unix

package memory

import "os"

// lockFile does not lock where there is no flock: that one process at a time
// has the folder open is up to the user there.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
