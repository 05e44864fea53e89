package hedge_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/internal/testkit"
)

// script is one call to a fake backend, as fuzzing finds it.
type script struct {
	maxCopies int
	burst     int
	leave     time.Duration // when the caller leaves; 0: never
	copies    [4]act
}

// act is what one copy does.
type act struct {
	after time.Duration
	class backstay.Class
	deaf  bool // it does not hear its context
	fails bool // it returns an error and not a reply
}

// read makes a script of any bytes. All durations differ by a power of two of
// microseconds that is their own, so that no two things happen at one instant.
func read(data []byte) script {
	next := func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := int(data[0]) % n
		data = data[1:]
		return b
	}
	s := script{maxCopies: 1 + next(3), burst: 1 + next(3)}
	if n := next(120); n > 0 {
		s.leave = time.Duration(n)*ms + 512*time.Microsecond
	}
	for i := range s.copies {
		s.copies[i] = act{
			after: time.Duration(next(70))*ms + time.Microsecond<<i,
			class: backstay.Class(next(int(backstay.Rejected) + 1)),
			deaf:  next(4) == 0,
			fails: next(2) == 0,
		}
	}
	return s
}

// verdict is what a call came to.
type verdict struct {
	winner int // whose reply or error it is; 0: the caller left first
	took   time.Duration
	sent   int
	tokens int
}

// running is a copy of the model.
type running struct {
	number int
	end    time.Duration
}

// model is a dumb hedge: it looks for what happens next, again and again.
type model struct {
	script
	now     time.Duration
	timer   time.Duration // when the next copy is due; 0: none
	running []running
	failed  [4]backstay.Class // by copy, as it was judged when it ended
	sent    int
	tokens  int
	left    bool
}

// predict says what the call must come to.
func predict(s script) verdict {
	m := model{script: s, tokens: s.burst}
	winner := m.run()
	v := verdict{winner: winner, took: m.now, sent: m.sent, tokens: m.tokens}
	for _, r := range m.running {
		switch a := m.copies[r.number-1]; {
		case !a.deaf:
		case r.number == 1:
			v.took = r.end // it is waited for
		case a.class == backstay.Rejected:
			v.tokens++
		}
	}
	return v
}

// run returns the winner, 0 if the caller left.
func (m *model) run() int {
	m.send()
	for {
		slices.SortFunc(m.running, func(a, b running) int { return int(a.end - b.end) })
		end := m.running[0].end
		switch {
		case m.leave > m.now && m.leave < end && (m.timer == 0 || m.leave < m.timer):
			m.now, m.left, m.timer = m.leave, true, 0
			first := slices.ContainsFunc(m.running, func(r running) bool { return r.number == 1 })
			if !first {
				return m.answer(m.best())
			}
			if !m.copies[0].deaf {
				return 0
			}
			m.running = slices.DeleteFunc(m.running, func(r running) bool { return !m.copies[r.number-1].deaf })
		case m.timer > 0 && m.timer < end:
			m.now, m.timer = m.timer, 0
			m.sendLater()
		default:
			number := m.running[0].number
			m.now, m.running = end, m.running[1:]
			if winner, over := m.ended(number); over {
				return winner
			}
		}
	}
}

func (m *model) send() {
	m.sent++
	m.running = append(m.running, running{m.sent, m.now + m.copies[m.sent-1].after})
	if m.timer = 0; m.sent <= m.maxCopies {
		m.timer = m.now + delay
	}
}

func (m *model) sendLater() {
	if m.sent <= m.maxCopies && m.tokens > 0 && !m.left {
		m.tokens--
		m.send()
	}
}

// ended takes in the end of a copy.
func (m *model) ended(number int) (winner int, over bool) {
	class := m.class(number)
	switch {
	case class == backstay.Canceled && m.left && number > 1: // the first will say so
	case !class.Retryable() && class != backstay.Rejected:
		return number, true
	case class == backstay.Rejected && number > 1:
		m.tokens++
	case class == backstay.Transient:
		m.sendLater()
	}
	m.failed[number-1] = class
	switch {
	case len(m.running) == 0:
		return m.answer(m.best()), true
	case m.left && number == 1:
		return m.answer(m.best()), true
	default:
		return 0, false
	}
}

// class is how the end of a copy is judged.
func (m *model) class(number int) backstay.Class {
	a := m.copies[number-1]
	switch {
	case !a.fails, a.class == backstay.Rejected:
		return a.class
	case m.left:
		return backstay.Canceled
	case a.class == backstay.Success:
		return backstay.Transient
	default:
		return a.class
	}
}

// best is who answers if all failed.
func (m *model) best() int {
	if m.failed[0] == backstay.Rejected {
		for n := 2; n <= m.sent; n++ {
			if m.failed[n-1].Retryable() {
				return n
			}
		}
	}
	return 1
}

// answer is what the caller sees of a failure: where it has left, the reply if
// there is one, and otherwise that it left.
func (m *model) answer(number int) int {
	if m.left && m.copies[number-1].fails {
		return 0
	}
	return number
}

// scripted is the error of a copy.
type scripted struct {
	number int
	class  backstay.Class
}

func (e scripted) Error() string             { return fmt.Sprintf("copy %d: %v", e.number, e.class) }
func (e scripted) Outcome() backstay.Outcome { return backstay.Outcome{Class: e.class} }

// play makes the call.
func play(t *testing.T, s script) (v verdict) {
	p := must(t, hedge.Config{Delay: delay, MaxCopies: s.maxCopies, Budget: hedge.BudgetConfig{Ratio: 1e-9, Burst: s.burst}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if s.leave > 0 {
		defer time.AfterFunc(s.leave, cancel).Stop()
	}
	began := time.Now()
	var backend backend
	r, err := hedge.Run(ctx, p, &testkit.Fake{}, "q", func(ctx context.Context, _ string) (*testkit.Reply, error) {
		return backend.answer(ctx, hedge.Copy(ctx), s.copies[hedge.Copy(ctx)-1])
	})
	v.took = time.Since(began)
	closed(t, p)
	var failure scripted
	switch {
	case err == nil:
		v.winner = slices.Index(backend.replies[:], r) + 1
	case errors.Is(err, context.Canceled):
	case errors.As(err, &failure):
		v.winner = failure.number
	}
	v.sent, v.tokens = int(backend.sent.Load()), int(p.State().Tokens)
	for _, other := range backend.replies {
		checkReply(t, other, other == r)
	}
	return v
}

// backend is what the copies of one call reach.
type backend struct {
	sent    atomic.Int32
	replies [4]*testkit.Reply // by copy
}

func (b *backend) answer(ctx context.Context, n int, a act) (*testkit.Reply, error) {
	b.sent.Add(1)
	if a.deaf {
		time.Sleep(a.after)
	} else if err := sleep(ctx, a.after); err != nil {
		return nil, err
	}
	switch {
	case !a.fails:
		b.replies[n-1] = reply(backstay.Outcome{Class: a.class})
		return b.replies[n-1], nil
	case a.class == backstay.Success:
		return nil, scripted{n, backstay.Transient}
	default:
		return nil, scripted{n, a.class}
	}
}

func check(t *testing.T, data []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := read(data)
		if got, want := play(t, s), predict(s); got != want {
			t.Errorf("%+v\ngot  %+v\nwant %+v", s, got, want)
		}
	})
}

func FuzzARaceEndsAsTheModelSays(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 60, 0, 1, 1, 5, 0, 1, 1})            // the hedge wins
	f.Add([]byte{2, 2, 0, 3, 1, 1, 0, 3, 1, 1, 0, 3, 1, 1, 0}) // failures hasten each other
	f.Add([]byte{1, 0, 45, 60, 0, 0, 1, 5, 6, 1, 0})           // the caller leaves a deaf copy
	f.Fuzz(check)
}

func TestRandomRacesEndAsTheModelSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	data := make([]byte, 3+4*4)
	for range 1_000 {
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if check(t, data); t.Failed() {
			return
		}
	}
}
