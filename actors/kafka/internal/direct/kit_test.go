package direct

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/internal/testkit"
)

// The address of the owner that most tests have.
const owner = "owner:1"

// pipes is a network without one: listeners by their address.
type pipes struct {
	mu        sync.Mutex
	listeners map[string]*testkit.Pipes
	dialled   int
}

func (n *pipes) listen(address string) *testkit.Pipes {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = make(map[string]*testkit.Pipes)
	}
	e := testkit.NewPipes(address)
	n.listeners[address] = e
	return e
}

func (n *pipes) dial(ctx context.Context, address string) (net.Conn, error) {
	n.mu.Lock()
	e := n.listeners[address]
	n.dialled++
	n.mu.Unlock()
	if e == nil {
		return nil, testkit.ErrRefused
	}
	return e.Dial(ctx)
}

func (n *pipes) attempts() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialled
}

// world is a network, and what was told on it.
type world struct {
	*testing.T
	pipes

	mu   sync.Mutex
	told []error
	came []Letter
	back []Letter
}

func (w *world) config() Config {
	return Config{App: "bank", Token: "a token of 16 bytes", Largest: 1 << 20, Connections: 10, Tell: w.tell}
}

func (w *world) tell(_ string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.told = append(w.told, err)
	}
}

func (w *world) serve(c Config) *Server {
	return Serve(w.listen(owner), c, func(m Letter) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.back = append(w.back, m)
	})
}

// client follows the owner.
func (w *world) client(c Config, peer string) *Client {
	k := NewClient(c, peer, func(m Letter) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.came = append(w.came, m)
	})
	k.dial = w.dial
	k.Follow(map[string]bool{owner: true})
	return k
}

// have expects numbers of letters that came, and that were handed back.
func (w *world) have(came, back int) {
	w.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.came) != came || len(w.back) != back {
		w.Errorf("%d letters came and %d were handed back, want %d and %d", len(w.came), len(w.back), came, back)
	}
}

// says expects that an error was told that matches.
func (w *world) says(want error) {
	w.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.told {
		if errors.Is(err, want) {
			return
		}
	}
	w.Errorf("told %v, want %v", w.told, want)
}

// tellings is how many errors were told.
func (w *world) tellings() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.told)
}

// within runs a test in virtual time.
func within(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(&world{T: t}) })
}

var anna = "anna567890123456"

func letter(data string) Letter { return Letter{To: "1/" + anna + "-1", Data: []byte(data)} }

// wait lets virtual time pass.
func wait(d time.Duration) { time.Sleep(d); synctest.Wait() }
