package memory

import (
	"context"
	"strconv"
	"sync"
)

// listeners are the clients that wait for answers.
type listeners struct {
	mu        sync.RWMutex
	made      int
	byAddress map[string]func([]byte)
}

// Listen opens an address.
func (l *Log) Listen(_ context.Context, deliver func(data []byte)) (address string, closing func(), err error) {
	ls := &l.listeners
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.byAddress == nil {
		ls.byAddress = make(map[string]func([]byte))
	}
	ls.made++
	address = "memory/" + strconv.Itoa(ls.made)
	ls.byAddress[address] = deliver
	return address, func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		delete(ls.byAddress, address)
	}, nil
}

// Answer delivers before it returns.
func (l *Log) Answer(address string, data []byte) {
	l.listeners.mu.RLock()
	deliver := l.listeners.byAddress[address]
	l.listeners.mu.RUnlock()
	if deliver != nil {
		deliver(data)
	}
}
