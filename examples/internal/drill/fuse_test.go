package drill_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/examples/internal/drill"
)

// spared is a fuse whose process survives it: it says where it would have died.
func spared() *drill.Fuse { return &drill.Fuse{Burns: func(at string) { panic(at) }} }

// died is where something ends, empty if nowhere.
func died(do func()) (at string) {
	defer func() {
		if v := recover(); v != nil {
			at, _ = v.(string)
		}
	}()
	do()
	return ""
}

func TestAFuseBurnsWhenItsPointsWereReachedInOrder(t *testing.T) {
	f := spared()
	reach := func(points ...string) string {
		return died(func() {
			for _, p := range points {
				f.Reach(p)
			}
		})
	}
	if at := reach("begun a.b"); at != "" {
		t.Errorf("it was not armed, and died at %q", at)
	}
	f.Arm("begun a.b", "appended a")
	if at := reach("appended a/1", "begun a.bc", "appended b/0", "begun a.b"); at != "" {
		t.Errorf("it died at %q", at)
	}
	if at := reach("appended a/2"); at != "appended a/2" {
		t.Errorf("it died at %q", at)
	}
	f.Arm("begun")
	f.Arm()
	if at := reach("begun a.b"); at != "" {
		t.Errorf("it was disarmed, and died at %q", at)
	}
}

func TestPointsComeFromMethodsEventsAndTheLog(t *testing.T) {
	f := spared()
	plain := memory.New()
	defer plain.Close()
	log, p := f.Log(plain), journal.Partition{Type: "a"}
	next := func(context.Context) error { return nil }
	for point, do := range map[string]func(){
		"begun a.b":       func() { _ = f.Intercept(t.Context(), actors.Invocation{Type: "a", Method: "b"}, next) },
		"over a.b":        func() { _ = f.Intercept(t.Context(), actors.Invocation{Type: "a", Method: "b"}, next) },
		"partition owned": func() { f.Observe(t.Context(), backstay.Event{Kind: backstay.PartitionOwned}) },
		"manifest a/0":    func() { _, _, _ = log.Manifest(t.Context(), p) },
		"read a/0":        func() { _, _ = log.Read(p, 0, func() {}) },
	} {
		f.Arm(point)
		if at := died(do); at != point {
			t.Errorf("it died at %q instead of %q", at, point)
		}
	}
}

func TestOrdersComeInLines(t *testing.T) {
	f := spared()
	orders, conductor := io.Pipe()
	ctx := f.Attend(t.Context(), orders)
	_, _ = io.Copy(conductor, strings.NewReader("x\n\nbegun a,appended\n"))
	_ = conductor.Close()
	<-ctx.Done()
	if at := died(func() { f.Reach("x"); f.Reach("begun a.b"); f.Reach("appended a/1") }); at != "appended a/1" {
		t.Errorf("it died at %q", at)
	}
}
