package direct

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/internal/testkit"
)

func TestAnswersGoToWhoeverIsConnectedInOrder(t *testing.T) {
	within(t, func(w *world) {
		s := w.serve(w.config())
		k := w.client(w.config(), anna)
		other := NewClient(w.config(), "bert567890123456", func(Letter) { w.Error("not for it") })
		other.dial = w.dial
		other.Follow(map[string]bool{owner: true})
		synctest.Wait()
		if k.Connected() != 1 || s.Counts().Clients != 2 {
			t.Fatalf("%d, %+v", k.Connected(), s.Counts())
		}
		for i := range 1000 {
			if !s.Answer(anna, letter(fmt.Sprint(i))) {
				t.Fatalf("number %d was not taken", i)
			}
		}
		if s.Answer("cleo567890123456", letter("x")) {
			t.Error("it was taken for somebody who is not there")
		}
		w.have(1000, 0)
		for i, m := range w.came {
			if string(m.Data) != fmt.Sprint(i) || m.To != letter("").To {
				t.Fatalf("%d is %s to %s", i, m.Data, m.To)
			}
		}
		if n := s.Counts().Sent; n != 1000 {
			t.Errorf("%d sent", n)
		}
		other.Close()
		k.Close()
		s.Close()
	})
}

func TestAConnectionLastsThroughSilence(t *testing.T) {
	within(t, func(w *world) {
		s, k := w.serve(w.config()), w.client(w.config(), anna)
		wait(time.Hour)
		if w.attempts() != 1 || w.tellings() > 0 || !s.Answer(anna, letter("x")) {
			t.Errorf("%d connections, told %d times", w.attempts(), w.tellings())
		}
		w.have(1, 0)
		k.Close()
		s.Close()
	})
}

func TestAClientFollowsTheOwners(t *testing.T) {
	within(t, func(w *world) {
		s, k := w.serve(w.config()), w.client(w.config(), anna)
		second := Serve(w.listen("second:1"), w.config(), func(Letter) {})
		k.Follow(map[string]bool{owner: true, "second:1": true})
		synctest.Wait()
		if k.Connected() != 2 || second.Counts().Clients != 1 {
			t.Errorf("%d connected", k.Connected())
		}
		k.Follow(map[string]bool{"second:1": true})
		synctest.Wait()
		if k.Connected() != 1 || s.Counts().Clients != 0 || second.Counts().Clients != 1 {
			t.Errorf("%d connected; %+v", k.Connected(), s.Counts())
		}
		k.Follow(nil)
		wait(time.Minute)
		if n := w.attempts(); k.Connected() != 0 || n != 2 || w.tellings() > 0 {
			t.Errorf("%d connected, %d attempts, told %d times", k.Connected(), n, w.tellings())
		}
		k.Close()
		k.Follow(map[string]bool{owner: true}) // too late
		second.Close()
		s.Close()
	})
}

func TestAClientComesBackWhenTheOwnerDoes(t *testing.T) {
	within(t, func(w *world) {
		s, k := w.serve(w.config()), w.client(w.config(), anna)
		synctest.Wait()
		s.Close()
		if s.Answer(anna, letter("x")) {
			t.Error("taken by a server that is closed")
		}
		wait(time.Minute)
		if n := w.attempts(); n < 30 || n > 200 {
			t.Errorf("%d attempts in a minute", n)
		}
		w.says(testkit.ErrRefused)
		s = w.serve(w.config())
		wait(2*longest + time.Second)
		if !s.Answer(anna, letter("y")) {
			t.Error("it has not come back")
		}
		w.have(1, 0)
		k.Close()
		s.Close()
	})
}

func TestTheNewerConnectionOfAClientCounts(t *testing.T) {
	within(t, func(w *world) {
		s, k := w.serve(w.config()), w.client(w.config(), anna)
		synctest.Wait()
		raw, err := w.dial(w.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		c := w.config()
		if err := c.introduce(raw, anna); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := s.Counts().Clients; n != 1 || k.Connected() != 0 {
			t.Errorf("%d and %d", n, k.Connected())
		}
		_ = raw.Close()
		wait(time.Second)
		if n := s.Counts().Clients; n != 1 || k.Connected() != 1 {
			t.Errorf("then %d and %d", n, k.Connected())
		}
		k.Close()
		s.Close()
	})
}

// A client that reads nothing: a queue that is full takes no more, and when the
// client is given up, everything that may not have arrived is handed back.
func TestWhatAClientDoesNotTakeIsHandedBack(t *testing.T) {
	within(t, func(w *world) {
		s := w.serve(w.config())
		raw, _ := w.dial(w.Context(), owner)
		c := w.config()
		if err := c.introduce(raw, anna); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		large := string(bytes.Repeat([]byte{1}, 10<<10))
		taken := 0
		for s.Answer(anna, letter(large)) {
			taken++
		}
		if taken < 90 || taken > 110 {
			t.Errorf("%d of 10 KiB were taken", taken)
		}
		wait(silence + time.Second)
		w.have(0, taken)
		if n := s.Counts(); n.Clients != 0 || n.Lost != uint64(taken)+1 || n.Sent != 0 {
			t.Errorf("%+v", n)
		}
		s.Close()
	})
}

func TestWhatWasSentMakesRoomForMore(t *testing.T) {
	within(t, func(w *world) {
		s, k := w.serve(w.config()), w.client(w.config(), anna)
		synctest.Wait()
		const many = 50
		for i := range many {
			if !s.Answer(anna, letter(string(make([]byte, queueBytes/10)))) {
				t.Fatalf("number %d was not taken", i)
			}
			synctest.Wait()
		}
		w.have(many, 0)
		k.Close()
		s.Close()
	})
}

// The connection is cut in the middle of a frame: what the client has of it is
// not taken, and it is handed back with all that follows.
func TestHalfALetterIsNone(t *testing.T) {
	within(t, func(w *world) {
		s := w.serve(w.config())
		raw, _ := w.dial(w.Context(), owner)
		c := w.config()
		if err := c.introduce(raw, anna); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, m := range []string{"first", "second", "third"} {
			s.Answer(anna, letter(m))
		}
		first := letter("first")
		got := make([]byte, first.size()+7)
		if _, err := raw.Read(got); err != nil {
			t.Fatal(err)
		}
		_ = raw.Close()
		synctest.Wait()
		w.mu.Lock()
		if n := len(w.back); n < 2 || string(w.back[n-2].Data) != "second" || string(w.back[n-1].Data) != "third" {
			t.Errorf("handed back: %s", w.back)
		}
		w.mu.Unlock()
		in := reading(got)
		if m, err := in.next(); err != nil || string(m.Data) != "first" {
			t.Errorf("%v, %v", m, err)
		}
		if m, err := in.next(); err == nil {
			t.Errorf("%v of half a frame", m)
		}
		s.Close()
	})
}

func TestAPeerThatIsSilentIsGivenUp(t *testing.T) {
	within(t, func(w *world) {
		s := w.serve(w.config())
		raw, _ := w.dial(w.Context(), owner)
		c := w.config()
		if err := c.introduce(raw, anna); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = new(bytes.Buffer).ReadFrom(raw) }() // it listens
		wait(silence - time.Millisecond)
		if s.Counts().Clients != 1 {
			t.Error("given up too early")
		}
		wait(2 * time.Millisecond)
		if s.Counts().Clients != 0 || s.Answer(anna, letter("x")) {
			t.Error("not given up")
		}
		s.Close()

		k := NewClient(w.config(), anna, nil)
		k.dial = func(context.Context, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				if _, err := c.admit(theirs); err == nil {
					_, _ = new(bytes.Buffer).ReadFrom(theirs)
				}
			}()
			return ours, nil
		}
		began := time.Now()
		k.Follow(map[string]bool{owner: true})
		for w.tellings() == 0 {
			wait(time.Millisecond)
		}
		if d := time.Since(began); d < silence || d > silence+10*time.Millisecond {
			t.Errorf("given up after %v", d)
		}
		k.Close()
	})
}

func TestAnswersThatAreTooLargeAreNotTaken(t *testing.T) {
	within(t, func(w *world) {
		c := w.config()
		c.Largest = 100
		s, k := w.serve(c), w.client(c, anna)
		synctest.Wait()
		if !s.Answer(anna, letter(string(make([]byte, 100)))) || s.Answer(anna, letter(string(make([]byte, 101)))) {
			t.Error("the bound is not 100")
		}
		if s.Answer(anna, Letter{To: string(make([]byte, longestTo+1))}) {
			t.Error("an address of 256 bytes was taken")
		}
		w.have(1, 0)
		k.Close()
		s.Close()
	})
}

func TestCloseWithAnswersOnTheirWayLosesNone(t *testing.T) {
	within(t, func(w *world) {
		s, k := w.serve(w.config()), w.client(w.config(), anna)
		synctest.Wait()
		taken := 0
		for range 500 {
			if s.Answer(anna, letter("x")) {
				taken++
			}
		}
		s.Close()
		s.Close() // again does nothing
		synctest.Wait()
		w.mu.Lock()
		if n := len(w.came) + len(w.back); n < taken {
			t.Errorf("%d of %d came or were handed back", n, taken)
		}
		w.mu.Unlock()
		k.Close()
	})
}
