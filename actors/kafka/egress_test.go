package kafka

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

var (
	errFenced = errors.New("fenced")
	errCut    = errors.New("the connection was cut")
)

// ledger is what brokers have of one partition's messages, and whose transactions
// they take.
type ledger struct {
	mu        sync.Mutex
	rng       *rand.Rand
	faulty    bool // now and then what is asked fails, before or after it is done
	owner     *ledgerSession
	last      uint64
	known     bool
	committed []string
	largest   int // messages in a transaction, 0: any number
	sizes     []int
}

type ledgerSession struct{ *ledger }

func newLedger(seed uint64) *ledger {
	return &ledger{rng: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // repeatable
}

// fails reports whether something goes wrong, and dawdles.
func (l *ledger) fails() bool {
	l.mu.Lock()
	wait, fails := l.rng.IntN(5), l.faulty && l.rng.IntN(5) == 0
	l.mu.Unlock()
	time.Sleep(time.Duration(wait) * time.Millisecond)
	return fails
}

func (l *ledger) open(context.Context) (session, error) {
	fails := l.fails()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner = &ledgerSession{l}
	if fails {
		return nil, errCut
	}
	return l.owner, nil
}

func (s *ledgerSession) committed(context.Context, string) (uint64, bool, error) {
	if s.fails() {
		return 0, false, errCut
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.known, nil
}

func (s *ledgerSession) transact(_ context.Context, _ string, all []*sarama.ProducerMessage, last uint64) error {
	if s.fails() {
		return errCut // between produce and commit
	}
	late := s.fails()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner != s {
		return errFenced
	}
	if s.sizes = append(s.sizes, len(all)); s.largest > 0 && len(all) > s.largest {
		return sarama.ErrMessageSizeTooLarge
	}
	for _, m := range all {
		data, _ := m.Value.Encode()
		s.ledger.committed = append(s.ledger.committed, string(data))
	}
	s.last, s.known = last, true
	if late {
		return errCut // it was committed, and nobody knows
	}
	return nil
}

func (s *ledgerSession) close() {}

// publishing is a log of a process that publishes to the ledger.
func publishing(ctx context.Context, to *ledger) *Log {
	l := &Log{config: Config{App: "app", ExactlyOnce: []string{"t"}}.withDefaults()}
	l.ctx, l.end = context.WithCancel(ctx)
	l.egress = newEgress(l.config.ExactlyOnce, func(from journal.Partition) *courier {
		return &courier{
			egress: l.egress, from: from, open: to.open, route: func(*sending) error { return nil },
			tell: func(topic string, err error) { l.vitals.note(vital{part: "publish", topic: topic}, err) }, largest: 10_000,
			wake: make(chan struct{}, 1), next: make(map[string]uint64), owing: make(map[string]bool), alone: make(map[string]bool),
		}
	})
	return l
}

func numberedMessage(n uint64) journal.Message {
	return journal.Message{Topic: "t", Value: []byte(strconv.FormatUint(n, 10)), Source: part, Number: n}
}

// outbox publishes numbers as the owner of a partition does, until it is ended:
// in their order, several at a time, and after a failure from the first one that
// is not delivered. It starts at what is on record.
func outbox(ctx context.Context, l *Log, recorded *uint64, mu *sync.Mutex, to uint64) {
	mu.Lock()
	next := *recorded + 1
	mu.Unlock()
	for next <= to && ctx.Err() == nil {
		const window = 7
		ends := make(chan error, window)
		n := min(window, to-next+1)
		for i := range n {
			l.Publish(numberedMessage(next+i), func(_ journal.Place, err error) { ends <- err })
		}
		failed := false
		for range n {
			if err := <-ends; err != nil {
				failed = true
			} else if !failed {
				next++
			}
		}
		mu.Lock()
		if next%3 == 0 { // it is put on record now and then
			*recorded = max(*recorded, next-1)
		}
		mu.Unlock()
		if failed {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Owners come and go, several believe to be the one, transactions fail before
// and after they are committed, and what was delivered is put on record late.
func TestEachNumberIsCommittedOnceWhoeverPublishesIt(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			const n = 300
			to := newLedger(seed)
			to.faulty = true
			var mu sync.Mutex
			var recorded uint64
			var processes sync.WaitGroup
			for p := range 3 {
				processes.Go(func() {
					for range 40 {
						time.Sleep(time.Duration(10*p) * time.Millisecond)
						l := publishing(t.Context(), to)
						ctx, end := context.WithTimeout(t.Context(), time.Duration(50+10*p)*time.Millisecond)
						outbox(ctx, l, &recorded, &mu, n)
						end()
						l.mu.Lock()
						l.closed = true
						l.mu.Unlock()
						l.end()
						l.work.Wait()
					}
				})
			}
			processes.Wait()
			last := publishing(t.Context(), to)
			outbox(t.Context(), last, &recorded, &mu, n)
			last.end()
			last.work.Wait()
			for i, got := range to.committed {
				if got != strconv.Itoa(i+1) {
					t.Fatalf("seed %d: number %s is at %d: %v", seed, got, i+1, to.committed[max(0, i-5):i+1])
				}
			}
			if len(to.committed) != n {
				t.Errorf("seed %d: %d of %d are committed", seed, len(to.committed), n)
			}
		})
	}
}

// publishAll publishes numbers at once, and returns how each ended.
func publishAll(l *Log, numbers ...uint64) (ends []error) {
	var mu sync.Mutex
	ends = make([]error, len(numbers))
	for i, n := range numbers {
		ends[i] = errors.New("no end")
		l.Publish(numberedMessage(n), func(_ journal.Place, err error) {
			mu.Lock()
			defer mu.Unlock()
			ends[i] = err
		})
	}
	time.Sleep(time.Second)
	synctest.Wait()
	return ends
}

func TestWhatFollowsAGapIsNotPublishedYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := newLedger(1)
		l := publishing(t.Context(), to)
		ends := publishAll(l, 5, 6, 8, 6)
		if ends[0] != nil || ends[1] != nil || !errors.Is(ends[2], errGap) || ends[3] != nil || !slices.Equal(to.committed, []string{"5", "6"}) {
			t.Errorf("%v are committed, with %v", to.committed, ends)
		}
		if ends := publishAll(l, 5, 7); ends[0] != nil || ends[1] != nil || !slices.Equal(to.committed, []string{"5", "6", "7"}) {
			t.Errorf("%v are committed, with %v", to.committed, ends)
		}
		l.end()
		l.work.Wait()
	})
}

// One that was replaced for a while does not know what was published meanwhile.
func TestWhoWasReplacedGoesOnBehindWhatOthersHavePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := newLedger(1)
		first, second := publishing(t.Context(), to), publishing(t.Context(), to)
		publishAll(first, 1, 2)
		publishAll(second, 3, 4)
		for tries := 0; publishAll(first, 5, 6)[1] != nil; tries++ {
			if tries == 3 {
				t.Fatal("it does not get on")
			}
		}
		if !slices.Equal(to.committed, []string{"1", "2", "3", "4", "5", "6"}) {
			t.Errorf("%v are committed", to.committed)
		}
		for _, l := range []*Log{first, second} {
			l.end()
			l.work.Wait()
		}
	})
}

// What waited behind one that failed must not be taken for the first.
func TestNothingIsPassedOverThatFailedBeforeAnythingWasCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := newLedger(1)
		l := publishing(t.Context(), to)
		hire, down := l.egress.hire, true
		l.egress.hire = func(from journal.Partition) *courier {
			c := hire(from)
			c.open = func(ctx context.Context) (session, error) {
				if down {
					return nil, errCut
				}
				return to.open(ctx)
			}
			return c
		}
		if ends := publishAll(l, 5, 6); ends[0] == nil || ends[1] == nil || len(l.vitals.problems()) != 1 {
			t.Errorf("%v, and told %v", ends, l.vitals.problems())
		}
		down = false
		if ends := publishAll(l, 7); !errors.Is(ends[0], errGap) {
			t.Errorf("7 ended with %v", ends)
		}
		time.Sleep(2 * idleFor)
		l.egress.mu.Lock()
		if c := l.egress.couriers[part]; c == nil || c.working { // its partition may have moved
			t.Errorf("nobody has published for a while, and its courier does not rest: %+v", c)
		}
		l.egress.mu.Unlock()
		if ends := publishAll(l, 7); !errors.Is(ends[0], errGap) {
			t.Errorf("7 ended with %v, a while later", ends)
		}
		if publishAll(l, 5, 6, 7); !slices.Equal(to.committed, []string{"5", "6", "7"}) || len(l.vitals.problems()) != 0 {
			t.Errorf("%v are committed, and told %v", to.committed, l.vitals.problems())
		}
		l.end()
		l.work.Wait()
	})
}

func TestOneThatIsTooLargeIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := newLedger(1)
		to.largest = 1
		l := publishing(t.Context(), to)
		if ends := publishAll(l, 1, 2, 3); !errors.Is(ends[0], sarama.ErrMessageSizeTooLarge) || errors.Is(ends[0], journal.ErrTooLarge) {
			t.Errorf("of three: %v", ends)
		}
		if ends := publishAll(l, 1, 2); ends[0] != nil || !errors.Is(ends[1], errGap) || !slices.Equal(to.sizes, []int{3, 1}) {
			t.Errorf("then: %v, with transactions of %v", ends, to.sizes)
		}
		big := numberedMessage(2)
		big.Value = make([]byte, 20_000)
		var end error
		l.Publish(big, func(_ journal.Place, err error) { end = err })
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(end, journal.ErrTooLarge) {
			t.Errorf("one that is too large here: %v", end)
		}
		l.end()
		l.work.Wait()
	})
}

func TestACourierWithNothingToDoGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := newLedger(1)
		l := publishing(t.Context(), to)
		publishAll(l, 1)
		time.Sleep(2 * idleFor)
		if records, bytes := l.egress.waiting(); len(l.egress.couriers) != 0 || records != 0 || bytes != 0 {
			t.Errorf("%d couriers, %d records of %d bytes are left", len(l.egress.couriers), records, bytes)
		}
		if ends := publishAll(l, 2); ends[0] != nil {
			t.Errorf("the next one: %v", ends)
		}
		to.known = false // the brokers have forgotten it
		time.Sleep(2 * idleFor)
		if ends := publishAll(l, 3, 4); ends[0] != nil || ends[1] != nil {
			t.Errorf("a long time later: %v", ends)
		}
		l.end()
		l.work.Wait()
	})
}

func TestMessagesWithoutANumberAreNotOfTheEgress(t *testing.T) {
	e := newEgress([]string{"t"}, nil)
	for m, want := range map[*journal.Message]bool{
		{Topic: "t", Number: 1}: true, {Topic: "t"}: false, {Topic: "other", Number: 1}: false,
	} {
		if e.carries(m) != want {
			t.Errorf("%+v: %v", m, !want)
		}
	}
}
