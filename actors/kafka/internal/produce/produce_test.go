package produce

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// network is a cluster whose brokers answer by hand.
type network struct {
	mu        sync.Mutex
	leaders   map[string]*station // by topic, of all its partitions
	refresh   error
	refreshes int
	identify  error
	last      int64 // identity
}

func (n *network) Leader(topic string, _ int32) (Broker, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.leaders[topic]; s != nil {
		return s, nil
	}
	return nil, sarama.ErrLeaderNotAvailable
}

func (n *network) Refresh(string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refreshes++
	return n.refresh
}

func (n *network) Identify() (Identity, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.identify != nil {
		return Identity{}, n.identify
	}
	n.last++
	return Identity{ID: n.last}, nil
}

func (n *network) Close() {}

func (n *network) lead(topic string, by *station) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leaders[topic] = by
}

// station is a broker. What is sent to it is in requests, in the order in which
// it came.
type station struct {
	requests chan request
	mu       sync.Mutex
	away     error
	closed   int
}

type request struct {
	batches  []*Batch
	answered func(Response, error)
}

func newStation() *station { return &station{requests: make(chan request, 100)} }

func (s *station) Produce(batches []*Batch, answered func(Response, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away == nil {
		s.requests <- request{batches, answered}
	}
	return s.away
}

func (s *station) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
}

// answer answers with the same for all batches.
func (r request) answer(a Answer) {
	r.answered(Response{Answers: slices.Repeat([]Answer{a}, len(r.batches))}, nil)
}

// String says what was sent, and under what numbers.
func (r request) String() string {
	var all []string
	for _, b := range r.batches {
		text := fmt.Sprintf("%s/%d %d:%d", b.Topic, b.Partition, b.Identity.ID, b.First)
		for _, m := range b.Records {
			text += fmt.Sprint(" ", m.Value)
		}
		all = append(all, text)
	}
	return fmt.Sprint(all)
}

// sent is the next request, which must be there when all have come to rest.
func (s *station) sent(t *testing.T, want string) request {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-s.requests:
		if r.String() != want {
			t.Fatalf("sent %v, want %s", r, want)
		}
		return r
	default:
		t.Fatalf("nothing is sent, want %s", want)
		return request{}
	}
}

// silent checks that nothing more is sent.
func (s *station) silent(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if len(s.requests) > 0 {
		t.Fatalf("%v is sent", <-s.requests)
	}
}

// ends are those of records, in their order.
type ends struct {
	mu  sync.Mutex
	all []string
	err []error
}

func (e *ends) note(m *sarama.ProducerMessage, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		e.all = append(e.all, fmt.Sprintf("%v@%d", m.Value, m.Offset))
		return
	}
	e.all = append(e.all, fmt.Sprint(m.Value, "!"))
	e.err = append(e.err, err)
}

// are checks what has ended since it was last asked.
func (e *ends) are(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.all, want) {
		t.Fatalf("ended %v, want %v", e.all, want)
	}
	e.all = nil
}

func (e *ends) failed(t *testing.T, want error) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.err) == 0 || !errors.Is(e.err[len(e.err)-1], want) {
		t.Fatalf("errors %v, want %v", e.err, want)
	}
}

type text string

func (x text) Encode() ([]byte, error) { return []byte(x), nil }
func (x text) Length() int             { return len(x) }

// house is a producer with what is around it.
type house struct {
	*Producer
	*network
	ends
	broker *station // leads topic "t"
}

func (h *house) send(topic string, partition int32, values ...string) {
	for _, v := range values {
		h.Send(&sarama.ProducerMessage{Topic: topic, Partition: partition, Value: text(v)})
	}
}

const (
	patience = 20 * time.Second
	backoff  = 50 * time.Millisecond
)

// in runs a test in a house.
func in(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{broker: newStation()}
		h.network = &network{leaders: map[string]*station{"t": h.broker}}
		conf := Config{BatchBytes: 1000, RequestBytes: 10_000, Patience: patience, Backoff: backoff}
		p, err := New(h.network, conf, h.note)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		h.Producer = p
		test(t, h)
	})
}

// warm has the broker answer once, so that its lane is ready.
func (h *house) warm(t *testing.T) {
	t.Helper()
	h.send("t", 0, "w")
	h.broker.sent(t, "[t/0 1:0 w]").answer(Answer{Offset: 1})
	h.are(t, "w@1")
}

func TestRecordsThatComeTogetherGoOutTogether(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.send("t", 0, "a")
		r := h.broker.sent(t, "[t/0 1:0 a]")
		h.send("t", 0, "b", "c")
		h.send("t", 1, "d")
		h.broker.silent(t)
		at := time.UnixMilli(77)
		r.answer(Answer{Offset: 5, At: at})
		h.are(t, "a@5")
		if m := r.batches[0].Records[0]; !m.Timestamp.Equal(at) {
			t.Errorf("appended at %v", m.Timestamp)
		}
		h.broker.sent(t, "[t/1 1:0 d t/0 1:1 b c]").answer(Answer{Offset: 6})
		h.are(t, "d@6", "b@6", "c@7")
		h.send("t", 0, "e")
		h.broker.sent(t, "[t/0 1:3 e]")
	})
}

// A record is written by its sender, not handed over, where nothing waits.
func TestASenderWritesToAnIdleBrokerHimself(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		if len(h.broker.requests) != 1 {
			t.Error("it was handed over")
		}
		h.broker.sent(t, "[t/0 1:1 a]").answered(Response{Answers: []Answer{{Offset: 2}}, Throttled: true}, nil)
		h.are(t, "a@2")
		h.send("t", 0, "b")
		if len(h.broker.requests) != 0 {
			t.Error("it waits for a broker that wants a pause")
		}
		h.broker.sent(t, "[t/0 1:2 b]").answer(Answer{Offset: 3})
		large := string(make([]byte, small))
		h.send("t", 0, large)
		if len(h.broker.requests) != 0 {
			t.Error("it waits for a large record to be written")
		}
	})
}

func TestBatchesAndRequestsAreBounded(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		big := string(make([]byte, 600))
		for i := range int32(20) {
			h.send("t", i, big, big)
		}
		synctest.Wait()
		for n := 0; n < 40; {
			r := <-h.broker.requests
			bytes := 0
			for _, b := range r.batches {
				bytes += b.bytes
				if len(b.Records) != 1 {
					t.Fatalf("a batch of %d bytes", b.bytes)
				}
			}
			if bytes > 11_000 {
				t.Fatalf("a request of %d bytes", bytes)
			}
			n += len(r.batches)
			r.answer(Answer{})
			synctest.Wait()
		}
		h.broker.silent(t)
	})
}

func TestWhatMayHaveLandedIsSentAgainAsItWas(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		r := h.broker.sent(t, "[t/0 1:1 a]")
		h.send("t", 0, "b")
		next := newStation()
		h.lead("t", next)
		r.answered(Response{}, errors.New("the connection broke"))
		r = next.sent(t, "[t/0 1:1 a]")
		if h.broker.closed != 1 || h.refreshes != 1 {
			t.Errorf("closed %d times, %d refreshes", h.broker.closed, h.refreshes)
		}
		h.are(t)
		r.answer(Answer{Offset: 2})
		next.sent(t, "[t/0 1:2 b]").answer(Answer{Offset: 3})
		h.are(t, "a@2", "b@3")
		h.broker.silent(t)
	})
}

func TestABatchThatHasLandedLongAgoHasNoPlace(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		r := h.broker.sent(t, "[t/0 1:1 a]")
		r.answer(Answer{Err: sarama.ErrDuplicateSequenceNumber, Offset: -1, At: time.UnixMilli(7)})
		h.are(t, "a@0")
		if !r.batches[0].Records[0].Timestamp.IsZero() {
			t.Error("it has a time")
		}
		h.send("t", 0, "b")
		h.broker.sent(t, "[t/0 1:2 b]")
	})
}

func TestABrokerThatDoesNotKnowWhatCameBeforeGetsAnotherIdentity(t *testing.T) {
	for _, strange := range strange {
		in(t, func(t *testing.T, h *house) {
			h.warm(t)
			h.send("t", 0, "a")
			h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: strange})
			h.broker.sent(t, "[t/0 2:0 a]").answer(Answer{Offset: 2})
			h.are(t, "a@2")
			h.send("t", 0, "b")
			h.broker.sent(t, "[t/0 2:1 b]")
		})
	}
}

func TestALeaderThatMovesIsAskedForAtOnceAndThenNowAndThen(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		began := time.Now()
		h.send("t", 0, "a")
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrNotLeaderForPartition})
		for range 10 {
			h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrNotLeaderForPartition})
			h.broker.silent(t)
			time.Sleep(backoff)
		}
		if took := time.Since(began); took != 10*backoff {
			t.Errorf("it took %v", took)
		}
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Offset: 2})
		h.are(t, "a@2")
	})
}

// asked is how often leaders were asked for since it was last asked.
func (n *network) asked() (times int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	times, n.refreshes = n.refreshes, 0
	return times
}

func TestALeaderIsAskedForLessOftenTheLongerThereIsNone(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.lead("t", nil)
		h.send("t", 0, "a")
		for _, x := range []struct {
			in          time.Duration
			least, most int
		}{{500 * time.Millisecond, 9, 11}, {500 * time.Millisecond, 6, 9}, {9 * time.Second, 20, 30}, {5 * time.Second, 4, 6}} {
			time.Sleep(x.in)
			if n := h.asked(); n < x.least || n > x.most {
				t.Errorf("asked %d times in %v, want %d to %d", n, x.in, x.least, x.most)
			}
		}
		h.lead("t", h.broker)
		time.Sleep(longestPause)
		h.broker.sent(t, "[t/0 1:0 a]")
	})
}

func TestAPartitionThatHasJustLostItsLeaderDoesNotWaitForOneThatHasHadNoneForLong(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.lead("t", nil)
		h.send("t", 1, "old")
		time.Sleep(patience / 2)
		h.lead("t", h.broker)
		h.send("t", 0, "new")
		h.broker.sent(t, "[t/0 1:1 new]").answer(Answer{Err: sarama.ErrNotLeaderForPartition})
		time.Sleep(backoff)
		h.broker.sent(t, "[t/1 1:0 old t/0 1:1 new]")
	})
}

func TestWhatComesLongAfterAFailureIsNotHeldUpByIt(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.lead("t", nil)
		h.send("t", 0, "a")
		time.Sleep(patience + longestPause)
		h.are(t, "a!")
		h.lead("t", h.broker)
		time.Sleep(time.Hour)
		h.send("t", 0, "b")
		h.broker.sent(t, "[t/0 1:0 b]")
	})
}

func TestATopicWithoutLeadersHoldsUpNoOther(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("deleted", 0, "d")
		time.Sleep(time.Second)
		h.send("t", 0, "a")
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Offset: 2})
		h.are(t, "a@2")
		time.Sleep(patience)
		h.are(t, "d!")
		h.failed(t, sarama.ErrLeaderNotAvailable)
	})
}

// Each record has its time; those behind one that is given up are sent.
func TestARecordIsGivenUpWhenItHasFailedForLong(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.lead("t", nil)
		h.send("t", 0, "a")
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrNotLeaderForPartition})
		h.send("t", 0, "b")
		time.Sleep(patience / 2)
		h.send("t", 0, "c")
		time.Sleep(patience/2 - time.Second)
		h.are(t)
		time.Sleep(2 * time.Second)
		h.are(t, "a!", "b!")
		h.lead("t", h.broker)
		time.Sleep(time.Second)
		h.broker.sent(t, "[t/0 2:0 c]").answer(Answer{Offset: 2})
		h.are(t, "c@2")
	})
}

// Else the broker would take the next for the one that it may have.
func TestAfterOneThatMayHaveLandedTheNextHasAnotherIdentity(t *testing.T) {
	for err, want := range map[error]string{
		sarama.ErrRequestTimedOut:       "[t/0 2:0 b]",
		sarama.ErrNotLeaderForPartition: "[t/0 2:0 b]", // a leader says so that was one when it appended
		sarama.ErrNotEnoughReplicas:     "[t/0 1:1 b]",
	} {
		in(t, func(t *testing.T, h *house) {
			h.warm(t)
			h.send("t", 0, "a")
			for began := time.Now(); time.Since(began) <= patience; time.Sleep(longestPause) {
				h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: err})
			}
			h.are(t, "a!")
			h.failed(t, err)
			h.send("t", 0, "b")
			time.Sleep(longestPause)
			h.broker.sent(t, want)
		})
	}
}

func TestWhatWaitsBehindOneThatMayHaveLandedHasAnotherIdentity(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		r := h.broker.sent(t, "[t/0 1:1 a]")
		time.Sleep(time.Second)
		r.answer(Answer{Err: sarama.ErrRequestTimedOut})
		r = h.broker.sent(t, "[t/0 1:1 a]")
		time.Sleep(patience)
		h.send("t", 0, "b")
		r.answer(Answer{Err: sarama.ErrRequestTimedOut})
		time.Sleep(time.Second)
		h.are(t, "a!")
		h.broker.sent(t, "[t/0 2:0 b]").answer(Answer{Offset: 2})
		h.are(t, "b@2")
	})
}

func TestAfterAnErrorThatNobodyKnowsTheNextHasAnotherIdentity(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrUnknown})
		h.are(t, "a!")
		h.send("t", 0, "b")
		h.broker.sent(t, "[t/0 2:0 b]")
	})
}

func TestWhatWasInABatchThatMayHaveLandedIsNotSaidToBeTooLarge(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.send("t", 0, "a", "b")
		h.broker.sent(t, "[t/0 1:0 a b]").answer(Answer{Err: sarama.ErrRequestTimedOut})
		for range 2 {
			tooLarge := Answer{Err: sarama.ErrMessageSizeTooLarge}
			(<-h.broker.requests).answer(tooLarge)
			synctest.Wait()
		}
		h.are(t, "a!")
		if err := h.err[0]; errors.Is(err, sarama.ErrMessageSizeTooLarge) {
			t.Error(err)
		}
	})
}

func TestWhatIsRefusedForGoodEndsAtOnce(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrTopicAuthorizationFailed})
		h.are(t, "a!")
		h.failed(t, sarama.ErrTopicAuthorizationFailed)
		h.send("t", 0, "b")
		h.broker.sent(t, "[t/0 1:1 b]").answer(Answer{Offset: 2})
		h.are(t, "b@2")
		h.network.mu.Lock()
		h.refresh = sarama.ErrTopicAuthorizationFailed
		h.network.mu.Unlock()
		h.send("secret", 0, "s")
		h.are(t, "s!")
		h.failed(t, sarama.ErrTopicAuthorizationFailed)
	})
}

func TestABatchThatIsTooLargeForTheBrokerIsDivided(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 1, "x")
		r := h.broker.sent(t, "[t/1 1:0 x]")
		h.send("t", 0, "a", "b", "C", "d", "e")
		r.answer(Answer{})
		h.are(t, "x@0")
		tooLarge := Answer{Err: sarama.ErrMessageSizeTooLarge}
		h.broker.sent(t, "[t/0 1:1 a b C d e]").answer(tooLarge)
		h.broker.sent(t, "[t/0 1:1 a b]").answer(Answer{Offset: 2})
		h.broker.sent(t, "[t/0 1:3 C d e]").answer(tooLarge)
		h.broker.sent(t, "[t/0 1:3 C]").answer(tooLarge)
		h.are(t, "a@2", "b@3", "C!")
		h.failed(t, sarama.ErrMessageSizeTooLarge)
		h.broker.sent(t, "[t/0 1:3 d]").answer(Answer{Offset: 4})
		h.broker.sent(t, "[t/0 1:4 e]").answer(Answer{Offset: 5})
		h.are(t, "d@4", "e@5")
	})
}

func TestARecordThatMayHaveLandedIsNotSaidToBeTooLarge(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrRequestTimedOut})
		h.broker.sent(t, "[t/0 1:1 a]").answer(Answer{Err: sarama.ErrMessageSizeTooLarge})
		h.are(t, "a!")
		if err := h.err[0]; errors.Is(err, sarama.ErrMessageSizeTooLarge) {
			t.Error(err)
		}
	})
}

func TestWhoOpensWhileBrokersStartGetsAnIdentityLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{leaders: map[string]*station{"t": newStation()}, identify: sarama.ErrOffsetsLoadInProgress}
		var e ends
		p, err := New(n, Config{BatchBytes: 1000, RequestBytes: 1000, Patience: patience, Backoff: backoff}, e.note)
		if err != nil {
			t.Fatal(err)
		}
		p.Send(&sarama.ProducerMessage{Topic: "t", Value: text("a")})
		time.Sleep(time.Second)
		n.leaders["t"].silent(t)
		n.mu.Lock()
		n.identify = nil
		n.mu.Unlock()
		time.Sleep(2 * backoff)
		n.leaders["t"].sent(t, "[t/0 1:0 a]").answer(Answer{Offset: 9})
		e.are(t, "a@9")
		p.Close()

		n.identify = sarama.ErrClusterAuthorizationFailed
		if _, err := New(n, Config{}, e.note); !errors.Is(err, n.identify) {
			t.Error(err)
		}
	})
}

func TestABrokerThatCannotBeConnectedToIsLeft(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.broker.away = errors.New("connection refused")
		h.send("t", 0, "a")
		time.Sleep(time.Second)
		h.are(t)
		if h.broker.closed < 10 || h.broker.closed > 25 {
			t.Errorf("it was tried %d times in a second", h.broker.closed)
		}
		next := newStation()
		h.lead("t", next)
		time.Sleep(2 * backoff)
		next.sent(t, "[t/0 1:0 a]").answer(Answer{Offset: 1})
		h.are(t, "a@1")
	})
}

func TestNothingIsSentAfterClose(t *testing.T) {
	in(t, func(t *testing.T, h *house) {
		h.warm(t)
		h.send("t", 0, "a")
		r := h.broker.sent(t, "[t/0 1:1 a]")
		h.send("t", 0, "b")
		h.send("nowhere", 0, "n")
		synctest.Wait()
		h.Producer.Close()
		r.answer(Answer{Offset: 2})
		h.send("t", 0, "c")
		h.broker.silent(t)
	})
}
