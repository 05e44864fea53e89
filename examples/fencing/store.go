package main

import (
	"errors"
	"fmt"
	"sync"
)

// store has the balance of one account, as a row of a database would.
type store interface {
	read() int
	// write replaces the balance, on behalf of the owner with that token.
	write(token uint64, balance int) error
}

// trusting takes what it is given: the last writer wins, however late it is.
type trusting struct {
	mu      sync.Mutex
	balance int
}

func (s *trusting) read() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.balance
}

func (s *trusting) write(_ uint64, balance int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balance = balance
	return nil
}

// errOutdated: somebody with a higher token has written.
var errOutdated = errors.New("a newer owner has written")

// fenced keeps the highest token beside the row, and takes nothing below it. The
// comparison and the write are one act. In SQL:
//
//	UPDATE account SET balance = $1, token = $2 WHERE id = $3 AND token <= $2
//
// where no row changed means that the writer is out of date. In Redis:
//
//	-- KEYS[1] the account; ARGV token, balance
//	if tonumber(redis.call('HGET', KEYS[1], 'token') or '0') > tonumber(ARGV[1]) then return 0 end
//	redis.call('HSET', KEYS[1], 'token', ARGV[1], 'balance', ARGV[2])
//	return 1
type fenced struct {
	mu      sync.Mutex
	balance int
	token   uint64
}

func (s *fenced) read() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.balance
}

func (s *fenced) write(token uint64, balance int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token < s.token {
		return fmt.Errorf("%w: token %d, not %d", errOutdated, s.token, token)
	}
	s.token, s.balance = token, balance
	return nil
}
