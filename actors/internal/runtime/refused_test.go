package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

// narrow is a log that takes no large entries for the type "far", and no large
// messages.
type narrow struct {
	*memory.Log
	entry, message int // bytes of an entry, and of a message's value and headers

	mu   sync.Mutex
	away bool // messages fail
	mute bool // nobody says how they end
}

var errAway = errors.New("away")

func (l *narrow) Append(p journal.Partition, data []byte, done func(journal.Place, error)) {
	if p.Type == "far" && len(data) > l.entry {
		done(journal.Place{}, fmt.Errorf("%w: %d bytes", journal.ErrTooLarge, len(data)))
		return
	}
	l.Log.Append(p, data, done)
}

func (l *narrow) Publish(m journal.Message, done func(journal.Place, error)) {
	size := len(m.Value)
	for _, h := range m.Headers {
		size += len(h.Value)
	}
	l.mu.Lock()
	away, mute := l.away, l.mute
	l.mu.Unlock()
	switch {
	case mute:
	case away:
		done(journal.Place{}, errAway)
	case size > l.message:
		done(journal.Place{}, fmt.Errorf("%w: %d bytes", journal.ErrTooLarge, size))
	default:
		l.Log.Publish(m, done)
	}
}

func (l *narrow) set(away, mute bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away, l.mute = away, mute
}

// narrowly is a cluster on such a log.
func narrowly(t *testing.T, entry, message int) (*cluster, *narrow) {
	l := &narrow{Log: memory.New(memory.WithPartitions(1)), entry: entry, message: message}
	return &cluster{T: t, log: l}, l
}

// sending has a method that tells a far actor something small, what it is given,
// and something small again; the far one notes what it got.
func sending() (near, far runtime.Type, noted func() string) {
	var mu sync.Mutex
	var all []string
	near = hosting(map[string]run{"send": func(_ context.Context, a *runtime.Attempt) runtime.End {
		for _, text := range []string{"first", args(a), "last"} {
			if err := a.Tell(record.Call{Target: actor("far", "x"), Method: "note", Args: []byte(text), Baggage: a.Request().Baggage}); err != nil {
				return failed(err.Error())
			}
		}
		return value("")
	}})
	far = named("far", map[string]run{"note": func(_ context.Context, a *runtime.Attempt) runtime.End {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, args(a))
		return value("")
	}})
	return near, far, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(all, " ")
	}
}

// heardTimes counts events of a kind.
func (c *cluster) heardTimes(kind runtime.EventKind) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.heard {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

const lots = 1 << 30

func TestATellThatTheLogRefusesForGoodIsADeadLetterAndThoseBehindItGoOn(t *testing.T) {
	large := strings.Repeat("x", 5000)
	for _, x := range []struct {
		name    string
		message int // bytes that a letter may have
		left    string
		value   string
		lost    int
	}{
		{"whole", lots, "", large, 0},
		{"without its argument, where that is too large there as well", 5000, "5000", "", 0},
		{"lost, where even that is refused", 10, "", "", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, l := narrowly(t, 2000, x.message)
				defer c.stop()
				near, far, noted := sending()
				c.call(c.open(near, far), "a", "send", large)
				time.Sleep(time.Second)
				if got := noted(); got != "first last" {
					t.Errorf("got %q", got)
				}
				if n := c.heardTimes(runtime.OutputLost); n != x.lost {
					t.Errorf("%d outputs are lost: %+v", n, c.heard)
				}
				if n := c.heardTimes(runtime.DeadLetter); n != 1 {
					t.Errorf("%d letters are told of", n)
				}
				letters := l.Messages("dead")
				if x.lost > 0 {
					if len(letters) > 0 {
						t.Errorf("dead letters %+v", letters)
					}
					return
				}
				if len(letters) != 1 {
					t.Fatalf("%d letters", len(letters))
				}
				m := letters[0]
				for name, want := range map[string]string{
					runtime.HeaderReason: runtime.CodeTooLarge, runtime.HeaderActor: "far/x", runtime.HeaderMethod: "note", runtime.HeaderAttempts: "0",
					runtime.HeaderSource: "t/0", runtime.HeaderDest: "far/0", runtime.HeaderNumber: "2", runtime.HeaderQueued: "", runtime.HeaderLeftOut: x.left,
				} {
					if got := headerOf(m, name); got != want {
						t.Errorf("%s is %q, not %q", name, got, want)
					}
				}
				if string(m.Value) != x.value || m.Key != "x" || !strings.Contains(headerOf(m, runtime.HeaderDetail), "too large") {
					t.Errorf("letter %+v", m)
				}
			})
		})
	}
}

// What a root told, and its first link handed on, is a tell as well.
func TestATailCallOfATellThatIsRefusedForGoodIsADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := narrowly(t, 2000, lots)
		defer c.stop()
		_, far, _ := sending()
		n := c.open(far, hosting(map[string]run{"hand on": func(_ context.Context, a *runtime.Attempt) runtime.End {
			return tailTo(actor("far", "x"), "note", args(a))
		}}))
		large := strings.Repeat("x", 5000)
		c.tell(n, "a", "hand on", large)
		time.Sleep(time.Second)
		if letters := l.Messages("dead"); len(letters) != 1 || string(letters[0].Value) != large {
			t.Errorf("letters %+v", letters)
		}
		if _, err := call(t.Context(), n, "a", "hand on", large); code(err) != runtime.CodeTooLarge {
			t.Errorf("a call: %v", err)
		}
		if n := len(l.Messages("dead")); n != 1 {
			t.Errorf("who waits is told; and there are %d letters", n)
		}
	})
}

func TestATellIsNotGivenUpBeforeItsDeadLetterIsThere(t *testing.T) {
	for name, mute := range map[string]bool{"the topic is away": false, "nobody answers": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, l := narrowly(t, 2000, lots)
				defer c.stop()
				near, far, noted := sending()
				n := c.open(near, far)
				l.set(!mute, mute)
				c.call(n, "a", "send", strings.Repeat("x", 5000))
				time.Sleep(10 * time.Second)
				if got, lost := noted(), c.heardTimes(runtime.OutputLost); got != "first" || lost > 0 {
					t.Errorf("meanwhile: %q, %d lost", got, lost)
				}
				if told := c.heardOf(runtime.AppendFailed, "sending to topic dead"); told == mute {
					t.Errorf("told of it: %v", told)
				}
				l.set(false, false)
				time.Sleep(30 * time.Second)
				if got, letters := noted(), len(l.Messages("dead")); got != "first last" || letters != 1 {
					t.Errorf("then: %q, %d letters", got, letters)
				}
			})
		})
	}
}

// Whoever dies between the two leaves the tell to the next owner: the letter comes
// again, and says of itself that it is a copy.
func TestALetterWhoseWriterDiedIsWrittenOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := narrowly(t, 2000, lots)
		defer c.stop()
		near, far, noted := sending()
		dying := make(chan struct{})
		died := &link{before: func(_ int, _ journal.Partition, r record.Record) bool {
			_, is := r.(*record.Undeliverable)
			if is {
				close(dying)
			}
			return is
		}}
		first := c.openOn(died, runtime.Config{Name: "first"}, near, far)
		defer kill(first)
		c.call(first, "a", "send", strings.Repeat("x", 5000))
		<-dying
		synctest.Wait() // what came before the tell has ended, and does not run again
		died.crash()
		c.open(near, far)
		time.Sleep(time.Minute)
		letters := l.Messages("dead")
		if len(letters) != 2 || noted() != "first last" {
			t.Fatalf("%d letters, noted %q", len(letters), noted())
		}
		for _, name := range []string{runtime.HeaderSource, runtime.HeaderDest, runtime.HeaderNumber, runtime.HeaderRequest} {
			if a, b := headerOf(letters[0], name), headerOf(letters[1], name); a != b || a == "" {
				t.Errorf("%s is %q and %q", name, a, b)
			}
		}
	})
}

func TestADeadLetterThatIsTooLargeIsWrittenWithoutWhatMakesItSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := narrowly(t, lots, 1000)
		defer c.stop()
		l.Append(partition{Type: "t"}, append([]byte{record.Version, byte(record.KindStep), 1, 0xff}, make([]byte, 5000)...), nothing)
		n := c.open(hosting(map[string]run{"fail": func(context.Context, *runtime.Attempt) runtime.End { return again("no") }}))
		for id, call := range map[string]runtime.ClientCall{
			"argument": {Args: make([]byte, 5000)}, "baggage": {Args: []byte("kept out as well"), Baggage: make([]byte, 20_000)},
		} {
			call.Target, call.Method = actor("t", id), "fail"
			if _, err := result(n.Call(t.Context(), call)); code(err) != runtime.CodePoison {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		left := make(map[string]string)
		for _, m := range l.Messages("dead") {
			left[headerOf(m, runtime.HeaderActor)+headerOf(m, runtime.HeaderOffset)] = headerOf(m, runtime.HeaderLeftOut)
			if len(m.Value) > 0 || headerOf(m, runtime.HeaderReason) == "" || m.Headers[len(m.Headers)-1].Name != runtime.HeaderLeftOut {
				t.Errorf("letter %+v", m)
			}
		}
		if len(left) != 3 || left["0"] != "5004" || left["t/argument"] != "5000" || left["t/baggage"] != "20016" {
			t.Errorf("left out %v", left)
		}
		if n := c.heardTimes(runtime.OutputLost); n > 0 {
			t.Errorf("%d are lost", n)
		}
	})
}
