package chaos_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

func TestAnInjectedErrorLooksLikeARealOne(t *testing.T) {
	for kind, want := range map[middleware.FaultKind]struct {
		is   error
		op   string // of the *net.OpError
		says string
	}{
		middleware.FaultError:     {nil, "", `call failed (injected by fault "error")`},
		middleware.FaultRefused:   {syscall.ECONNREFUSED, "dial", "dial tcp payments.test: connect: connection refused"},
		middleware.FaultReset:     {syscall.ECONNRESET, "read", "read tcp payments.test: read: connection reset by peer"},
		middleware.FaultTimeout:   {os.ErrDeadlineExceeded, "read", "read tcp payments.test: i/o timeout"},
		middleware.FaultTruncated: {io.ErrUnexpectedEOF, "", "unexpected EOF"},
	} {
		_, _, err := get(t.Context(), t, chaos.NewTransport(new(backend), injector(t, always(kind))))
		if err == nil || !strings.HasPrefix(err.Error(), want.says) || want.is != nil && !errors.Is(err, want.is) {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if mark, ok := errors.AsType[*chaos.InjectedError](err); !ok || mark.Fault != string(kind) || mark.Kind != kind {
			t.Errorf("%s: the mark is %+v", kind, mark)
		}
		if outer, ok := err.(*net.OpError); ok != (want.op != "") || ok && outer.Op != want.op { //nolint:errorlint // as callers do
			t.Errorf("%s: is a %T", kind, err)
		}
		if o := backstay.Classify(err); o.Class != backstay.Transient {
			t.Errorf("%s: judged as %v", kind, o.Class)
		}
		var late net.Error
		if got := errors.As(err, &late) && late.Timeout(); got != (kind == middleware.FaultTimeout) {
			t.Errorf("%s: a timeout is %v", kind, got)
		}
	}
}

func TestAMessageIsKept(t *testing.T) {
	f := always(middleware.FaultError)
	f.Message = "boom"
	_, _, err := get(t.Context(), t, chaos.NewTransport(new(backend), injector(t, f)))
	if err == nil || err.Error() != `boom (injected by fault "error")` {
		t.Error(err)
	}
}

// protocolError is what some protocol makes of an error.
type protocolError struct{ code int }

func (e *protocolError) Error() string { return "a code" }

func TestAProtocolSaysErrorsItsOwnWay(t *testing.T) {
	convert := func(e *chaos.InjectedError) error {
		switch {
		case e.Kind == middleware.FaultReset:
			return nil
		case errors.Is(e, context.DeadlineExceeded):
			return &protocolError{4}
		default:
			return &protocolError{e.Status}
		}
	}
	for kind, code := range map[middleware.FaultKind]int{
		middleware.FaultRefused: 0, middleware.FaultStatus: 503, middleware.FaultBlackHole: 4, middleware.FaultTruncated: 0,
	} {
		i, err := chaos.New([]middleware.Fault{always(kind)}, chaos.WithError(convert))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), ms)
		_, err = chaos.Do(ctx, i, chaos.Request{}, succeeds)
		cancel()
		own, ok := errors.AsType[*protocolError](err)
		mark, marked := errors.AsType[*chaos.InjectedError](err)
		if !ok || own.code != code || !marked || mark.Kind != kind || err.Error() != "a code" {
			t.Errorf("%s: %v", kind, err)
		}
	}
	i, err := chaos.New([]middleware.Fault{always(middleware.FaultReset)}, chaos.WithError(convert))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chaos.Do(t.Context(), i, chaos.Request{}, succeeds); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("an error that the protocol does not know is lost: %v", err)
	}
}

func TestAMarkWithoutAnErrorSaysWhatItIs(t *testing.T) {
	e := &chaos.InjectedError{Fault: "slow", Kind: middleware.FaultLatency}
	if e.Error() != `latency injected by fault "slow"` || e.Timeout() || e.Unwrap() != nil {
		t.Error(e)
	}
}
