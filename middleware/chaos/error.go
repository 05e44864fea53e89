package chaos

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/backstay-go/backstay/middleware"
)

// InjectedError marks an error as injected on purpose. errors.As finds it in
// every error that an [Injector] returns; apart from it such an error is built
// like a real one, and judged like one.
type InjectedError struct {
	// Fault is the fault's name, Kind what it does.
	Fault string
	Kind  middleware.FaultKind
	// Status is the answer of a fault of the kind status.
	Status int
	// Err is what a real failure would have said; nil where the fault does not
	// end in an error.
	Err error
}

// Error says what a real failure would say, and that it is none.
func (e *InjectedError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s injected by fault %q", e.Kind, e.Fault)
	}
	return fmt.Sprintf("%v (injected by fault %q)", e.Err, e.Fault)
}

// Unwrap returns Err.
func (e *InjectedError) Unwrap() error { return e.Err }

// Timeout reports whether the failure is one of time.
func (e *InjectedError) Timeout() bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](e.Err)
	return ok && t.Timeout()
}

// mark returns the mark of f, around what a real failure would say.
func mark(f *middleware.Fault) *InjectedError {
	return &InjectedError{Fault: f.Name, Kind: f.Kind, Status: f.Status, Err: cause(f)}
}

// cause returns what a failure of f's kind says at its innermost.
func cause(f *middleware.Fault) error {
	switch f.Kind {
	case middleware.FaultError:
		if f.Message != "" {
			return errors.New(f.Message)
		}
		return errors.New("call failed")
	case middleware.FaultRefused:
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case middleware.FaultReset:
		return os.NewSyscallError("read", syscall.ECONNRESET)
	case middleware.FaultTimeout:
		return os.ErrDeadlineExceeded
	case middleware.FaultTruncated:
		return io.ErrUnexpectedEOF
	default:
		return nil
	}
}

// failure returns e as a call to host would have failed.
func (i *Injector) failure(e *InjectedError, host string) error {
	switch e.Kind {
	case middleware.FaultRefused:
		return i.converted(e, &net.OpError{Op: "dial", Net: "tcp", Addr: address(host), Err: e})
	case middleware.FaultReset, middleware.FaultTimeout:
		return i.converted(e, &net.OpError{Op: "read", Net: "tcp", Addr: address(host), Err: e})
	default:
		return i.converted(e, e)
	}
}

// ended returns the error of a call whose context ended while f held it up.
func (i *Injector) ended(err error, f *middleware.Fault) error {
	e := &InjectedError{Fault: f.Name, Kind: f.Kind, Err: err}
	return i.converted(e, e)
}

// answered returns the error that stands for the answer of f where there are no
// HTTP responses.
func (i *Injector) answered(f *middleware.Fault) error {
	e := mark(f)
	e.Err = fmt.Errorf("%d %s", f.Status, http.StatusText(f.Status))
	return i.converted(e, e)
}

// converted returns e as the protocol says it; plain where that has nothing to
// say.
func (i *Injector) converted(e *InjectedError, plain error) error {
	if i.convert != nil {
		if err := i.convert(e); err != nil {
			return &convertedError{err, e}
		}
	}
	return plain
}

// address is the address that an error names.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// convertedError is a protocol's own error with the mark.
type convertedError struct {
	error
	mark *InjectedError
}

func (e *convertedError) Unwrap() []error { return []error{e.error, e.mark} }
