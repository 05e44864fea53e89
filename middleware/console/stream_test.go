package console_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/middleware/console"
)

func TestTheStreamFollowsEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		r := shown(t, c, touchy("payments"), "host")
		w := served(t, c).watch(t, "q=pay")
		if w.answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%v", w.answer.Header)
		}
		start := time.Now()
		for i := range 20 { // past the server's own time for an answer
			s, err := w.next()
			if err != nil || len(s.Rows) != 1 || time.Since(start).Round(time.Second) != time.Duration(i)*time.Second {
				t.Fatalf("event %d after %v: %d rows, %v", i, time.Since(start), len(s.Rows), err)
			}
			if i == 10 {
				for range 2 {
					_ = call(r, "host", 0, errDown)
				}
			}
			if open := s.Rows[0].State.Breaker.State == "open"; open != (i > 10) {
				t.Errorf("event %d says that the breaker is open: %v", i, open)
			}
		}
	})
}

func TestWatchersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{MaxWatchers: 2})
		network := served(t, c)
		first := network.watch(t, "")
		second := network.watch(t, "")
		third := network.watch(t, "")
		if first.answer.StatusCode != 200 || second.answer.StatusCode != 200 || third.answer.StatusCode != 503 || third.answer.Header.Get("Retry-After") != "5" {
			t.Errorf("%d, %d, %d", first.answer.StatusCode, second.answer.StatusCode, third.answer.StatusCode)
		}
		if body, _ := io.ReadAll(third.answer.Body); !strings.Contains(string(body), "ask for state.json instead") {
			t.Errorf("%s", body)
		}
		_ = first.conn.Close()
		time.Sleep(2 * time.Second)
		if got := network.watch(t, "").answer.StatusCode; got != 200 {
			t.Errorf("after one has gone: %d", got)
		}
	})
}

// A watcher that does not read is dropped, and costs the others nothing.
func TestASlowWatcherIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{MaxWatchers: 2})
		shown(t, c, touchy("payments"), "host")
		network := served(t, c)
		network.watch(t, "") // and reads no further
		quick := network.watch(t, "")
		for range 8 {
			if _, err := quick.next(); err != nil {
				t.Fatal(err)
			}
		}
		if got := network.watch(t, "").answer.StatusCode; got != 503 {
			t.Errorf("it was dropped too early: %d", got)
		}
		for range 6 {
			if _, err := quick.next(); err != nil {
				t.Fatal(err)
			}
		}
		if got := network.watch(t, "").answer.StatusCode; got != 200 {
			t.Errorf("it still has its place: %d", got)
		}
	})
}

func TestCloseSendsAllAwayAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		network := served(t, c)
		w := network.watch(t, "")
		if _, err := w.next(); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.next(); err == nil {
			t.Error("the stream goes on")
		}
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("again: %v", err)
		}
		for _, path := range []string{"/", "/state.json", "/events", "/main.js"} {
			if w := get(c, path); w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	})
}

func TestCloseWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := console.New(console.Config{})
		if err != nil {
			t.Fatal(err)
		}
		w := &stuck{ResponseRecorder: httptest.NewRecorder(), free: make(chan struct{})}
		done := make(chan struct{})
		go func() {
			c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/events", nil))
			close(done)
		}()
		synctest.Wait()
		errPatience := errors.New("out of patience")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errPatience)
		defer cancel()
		if err := c.Close(ctx); !errors.Is(err, errPatience) {
			t.Errorf("got %v", err)
		}
		close(w.free)
		<-done
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("after it has gone: %v", err)
		}
	})
}

// stuck is a client that reads nothing, behind a server without deadlines.
type stuck struct {
	*httptest.ResponseRecorder
	free chan struct{}
}

func (w *stuck) Write(p []byte) (int, error) {
	<-w.free
	return len(p), nil
}

// mute cannot flush.
type mute struct{ http.ResponseWriter }

func TestAServerThatCannotStreamIsTold(t *testing.T) {
	w := httptest.NewRecorder()
	made(t, console.Config{}).ServeHTTP(mute{w}, httptest.NewRequest(http.MethodGet, "/events", nil))
	if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), "state.json") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Nobody looks at pipelines while nobody watches, and all who watch share the
// looks.
func TestWatchersShareTheirLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		shown(t, c, touchy("payments"), "host")
		network := served(t, c)
		first := network.watch(t, "")
		time.Sleep(500 * time.Millisecond) // between two looks
		second := network.watch(t, "")
		for range 5 {
			a, errA := first.next()
			b, errB := second.next()
			if errA != nil || errB != nil || a.Now != b.Now {
				t.Fatalf("looks at %d and %d: %v, %v", a.Now, b.Now, errA, errB)
			}
		}
	})
}
