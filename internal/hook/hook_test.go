package hook_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/backstay-go/backstay/internal/hook"
)

func TestACallEndsNothingButItself(t *testing.T) {
	said := false
	if f := hook.Call(func() { said = true }); f != nil || !said {
		t.Errorf("what returns: %+v", f)
	}
	if f := hook.Call(rude); f == nil || f.Panic != "rude" || !bytes.Contains(f.Stack, []byte("rude")) {
		t.Errorf("what panics: %+v", f)
	}
	for name, end := range map[string]func(){
		"by itself":              runtime.Goexit,
		"in the end of a panic":  func() { defer runtime.Goexit(); panic("before") },
		"after one was survived": func() { defer func() { _ = recover(); runtime.Goexit() }(); panic("before") },
	} {
		if f := hook.Call(end); f == nil {
			t.Errorf("what ends its goroutine %s has returned", name)
		}
	}
	if f := hook.Call(func() { panic(nil) }); f == nil || f.Panic == nil { //nolint:govet // somebody does
		t.Errorf("what panics with nothing: %+v", f)
	}
}

func rude() { panic("rude") }
