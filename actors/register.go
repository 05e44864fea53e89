package actors

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// RegisterError lets errors.Is recognise err in what a call on another process
// returns: code travels in its place. Register sentinels in the package that
// hosts and callers share, in a variable's declaration:
//
//	var ErrNoFunds = actors.RegisterError("account.no-funds", errors.New("not enough money"))
//
// It returns err. It panics if the code is empty, contains anything but
// letters, digits, '.', '-' and '_', or stands for another error already.
func RegisterError(code string, err error) error {
	if fault := registry.add(code, err); fault != nil {
		panic("actors: RegisterError: " + fault.Error())
	}
	return err
}

// registry has the errors that travel by code.
var registry errorRegistry

type errorRegistry struct {
	mu    sync.RWMutex
	codes []string // in the order of registration, so that wrapping is decided alike everywhere
	errs  map[string]error
}

const codeCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

func (r *errorRegistry) add(code string, err error) error {
	if code == "" || err == nil {
		return errors.New("both a code and an error are needed")
	}
	if strings.Trim(code, codeCharacters) != "" {
		return fmt.Errorf("the code %q may have letters, digits, '.', '-' and '_' only", code)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.errs[code]
	switch {
	case ok && known != err: //nolint:errorlint // the very same error is meant
		return fmt.Errorf("the code %q stands for another error: %w", code, known)
	case !ok:
		r.codes = append(r.codes, code)
	}
	if r.errs == nil {
		r.errs = make(map[string]error)
	}
	r.errs[code] = err
	return nil
}

// byCode returns the error of a code, nil if it is not registered here.
func (r *errorRegistry) byCode(code string) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.errs[code]
}

// codeOf returns the code of the first registered error that err matches.
func (r *errorRegistry) codeOf(err error) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, code := range r.codes {
		if errors.Is(err, r.errs[code]) {
			return code
		}
	}
	return ""
}
