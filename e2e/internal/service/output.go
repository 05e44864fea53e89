package service

import (
	"bytes"
	"sync"
)

// output keeps what a server prints, for the error that wants it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is for exec.Cmd.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// String returns all of it.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
