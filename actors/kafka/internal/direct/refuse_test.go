package direct

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/internal/testkit"
)

func TestAWrongTokenIsToldOnBothSides(t *testing.T) {
	within(t, func(w *world) {
		s := w.serve(w.config())
		wrong := w.config()
		wrong.Token = "the token of last year"
		told := &world{T: w.T}
		wrong.Tell = told.tell
		k := w.client(wrong, anna)
		synctest.Wait()
		told.says(ErrToken)
		w.says(ErrToken)
		wait(time.Minute)
		if n := s.Counts(); n.Clients != 0 || n.Token < 25 || n.Token > 100 {
			t.Errorf("in a minute: %+v", n)
		}
		k.Close()
		s.Close()
	})
}

func TestWhoSaysNothingHoldsNoPlaceForLong(t *testing.T) {
	within(t, func(w *world) {
		c := w.config()
		s := w.serve(c)
		var slow []net.Conn
		for range c.Connections {
			raw, _ := w.dial(w.Context(), owner)
			slow = append(slow, raw)
		}
		k := w.client(c, anna)
		synctest.Wait()
		w.says(errFull)
		if n := s.Counts(); n.Full != 1 || n.Clients != 0 {
			t.Errorf("%+v", n)
		}
		wait(patience + longest + time.Second)
		if n := s.Counts(); n.Late != uint64(c.Connections) || n.Clients != 1 {
			t.Errorf("later: %+v", n)
		}
		k.Close()
		s.Close()
		for _, raw := range slow {
			_ = raw.Close()
		}
	})
}

func TestAClientThatSendsAnswersIsTurnedAway(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"an answer":         appendFrame(nil, &Letter{To: "a", Data: []byte("b")}),
		"an oversized one":  {0xff, 0xff, 0xff, 0xff},
		"what is no frame":  []byte("GET / HTTP/1.1\r\n\r\n"),
		"an address for 20": {0, 0, 0, 3, 20, 'a', 'b'},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, func(w *world) {
				s := w.serve(w.config())
				raw, _ := w.dial(w.Context(), owner)
				c := w.config()
				if err := c.introduce(raw, anna); err != nil {
					t.Fatal(err)
				}
				_, _ = raw.Write(bytes)
				synctest.Wait()
				w.says(errFault)
				if n := s.Counts(); n.Fault != 1 || n.Clients != 0 {
					t.Errorf("%+v", n)
				}
				_ = raw.Close()
				s.Close()
			})
		})
	}
}

// A listener that fails for a while, as where there are no more files, is asked
// again.
func TestAServerOutlivesAListenerThatFails(t *testing.T) {
	within(t, func(w *world) {
		failing := &failing{Pipes: w.listen(owner), times: 3}
		s := Serve(failing, w.config(), func(Letter) {})
		k := w.client(w.config(), anna)
		wait(time.Second)
		w.says(errNoFiles)
		if k.Connected() != 1 {
			t.Error("not connected")
		}
		k.Close()
		s.Close()
	})
}

var errNoFiles = errors.New("too many open files")

type failing struct {
	*testkit.Pipes
	times int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.times > 0 {
		f.times--
		return nil, errNoFiles
	}
	return f.Pipes.Accept()
}
