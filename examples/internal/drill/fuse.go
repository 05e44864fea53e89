package drill

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
)

// Fuse kills its own process where a drill wants it to die: at a point that only
// the process itself knows when it is there. Points are
//
//	begun order.create   a method has begun
//	over order.create    it has returned, and its step is not on record
//	appended order/3     an entry is on record, and its owner is not told yet
//	manifest order/3     an owner to be looks for a snapshot
//	read order/3         it begins to read the log
//	saving order/3       a snapshot is being written
//	member evicted       what happens to the membership
//	partition owned      any event of the node
//
// It is safe for concurrent use.
type Fuse struct {
	// Burns is told at what point the process is going to die.
	Burns func(point string)

	points atomic.Pointer[[]string] // those that are still to be reached
}

// Arm has the process die when it has reached points in this order; a point is
// the beginning of its name. No points disarm it.
func (f *Fuse) Arm(points ...string) { f.points.Store(&points) }

// Reach says that the process is at a point.
func (f *Fuse) Reach(point string) {
	for {
		left := f.points.Load()
		if left == nil || len(*left) == 0 || !strings.HasPrefix(point, (*left)[0]) {
			return
		}
		rest := (*left)[1:]
		if !f.points.CompareAndSwap(left, &rest) {
			continue
		}
		if len(rest) == 0 {
			f.burn(point)
		}
		return
	}
}

func (f *Fuse) burn(point string) {
	if f.Burns != nil {
		f.Burns(point)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // it does not return
	select {}
}

// Attend takes lines of points, separated by commas, from whoever conducts the
// drill, and returns a context that ends with them.
func (f *Fuse) Attend(ctx context.Context, orders io.Reader) context.Context {
	ctx, end := context.WithCancel(ctx)
	go func() {
		defer end()
		for lines := bufio.NewScanner(orders); lines.Scan(); {
			var points []string
			if lines.Text() != "" {
				points = strings.Split(lines.Text(), ",")
			}
			f.Arm(points...)
		}
	}()
	return ctx
}

// Observe is for [actors.Config.Observer].
func (f *Fuse) Observe(_ context.Context, e backstay.Event) { f.Reach(string(e.Kind)) }

// Intercept is for [actors.Config.Interceptors].
func (f *Fuse) Intercept(ctx context.Context, in actors.Invocation, next func(context.Context) error) error {
	method := in.Type + "." + in.Method
	f.Reach("begun " + method)
	err := next(ctx)
	f.Reach("over " + method)
	return err
}
