package grpcmw_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func staleByMethod(refresh bool) grpcmw.Option {
	return grpcmw.WithStaleCache(grpcmw.StaleCache{
		Key: func(_ context.Context, q *grpcmw.Request) string { return q.Method }, Refresh: refresh,
	})
}

// numbered returns a backend that answers with the number of the call and the
// request, except for the calls that fail.
func numbered(fails ...int) *echo {
	e := &echo{}
	e.say = func(ctx context.Context, req *text) (*text, error) {
		n := e.came(ctx)
		if slices.Contains(fails, n) {
			return nil, down
		}
		return wrapperspb.String(fmt.Sprint(n, " ", req.GetValue())), wait(ctx, time.Second)
	}
	return e
}

func TestAServedReplyIsRefreshedInTheBackground(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := numbered(2, 4)
		cc := connect(t, e, only("test"), reads(), staleByMethod(true))
		ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "mine", "1"))
		defer cancel()
		req := wrapperspb.String("a")
		served := func(ctx context.Context, want string, stale bool) {
			t.Helper()
			ctx, report := backstay.WithReport(ctx)
			reply := new(text)
			err := cc.Invoke(ctx, say, req, reply)
			if err != nil || reply.GetValue() != want || report.Summary().Degraded != stale {
				t.Errorf("got %q, %v, want %q; the report says %v", reply.GetValue(), err, want, report.Summary())
			}
		}
		served(ctx, "1 a", false)
		served(ctx, "1 a", true) // call 2, and call 3 refreshes
		cancel()                 // the caller goes, and uses its message for something else
		req.Value = "b"
		time.Sleep(time.Minute)
		served(t.Context(), "3 a", true) // call 4
		if got := e.metadata(3, "mine"); len(got) != 1 {
			t.Errorf("the refresh sent the metadata %q", got)
		}
	})
}

func TestWhatMayNotBeRepeatedIsNotRefreshed(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := numbered(2)
		cc := connect(t, e, only("test"), staleByMethod(true))
		for range 2 {
			if got, err := call(t.Context(), cc, "a"); got != "1 a" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		time.Sleep(time.Minute)
		if e.calls.Load() != 2 {
			t.Errorf("%d calls", e.calls.Load())
		}
	})
}

func TestOneRefreshRunsAtATimeAndClosingEndsIt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := &echo{}
		e.say = func(ctx context.Context, req *text) (*text, error) {
			switch e.came(ctx) {
			case 1:
				return req, nil
			case 2, 4:
				return nil, down
			default: // a refresh
				return nil, wait(ctx, time.Hour)
			}
		}
		c := client(t, only("test"), reads(), staleByMethod(true))
		cc := dial(t, e.serve(t), c)
		for range 3 {
			if got, err := call(t.Context(), cc, "a"); got != "a" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			synctest.Wait()
		}
		began := time.Now()
		if err := c.Close(t.Context()); err != nil || time.Since(began) != 0 || e.calls.Load() != 4 {
			t.Errorf("closed after %v and %d calls: %v", time.Since(began), e.calls.Load(), err)
		}
	})
}

func TestAPanicWhileRefreshingHarmsNobody(t *testing.T) {
	virtual(t, func(t *testing.T) {
		var told log
		asked := 0
		key := func(q *grpcmw.Request) string {
			if asked++; asked == 3 { // after two calls, by the refresh
				panic("bug")
			}
			return q.Host()
		}
		cc := connect(t, numbered(2), only("test"), reads(), staleByMethod(true), grpcmw.WithObserver(&told), grpcmw.WithKey(key))
		for range 2 {
			if got, err := call(t.Context(), cc, "a"); got != "1 a" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		synctest.Wait()
		if n := told.count(func(ev backstay.Event) bool { return ev.Kind == backstay.CallbackPanicked }); n != 1 {
			t.Errorf("%d panics were told of", n)
		}
	})
}
