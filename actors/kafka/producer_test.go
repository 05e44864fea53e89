package kafka

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// brokers take what a producer sends, and answer by hand.
type brokers struct {
	taken  chan *sarama.ProducerMessage
	answer func(*sarama.ProducerMessage, error)
	stuck  chan struct{} // closes as late as this
}

func (b *brokers) Send(m *sarama.ProducerMessage) { b.taken <- m }

func (b *brokers) Close() {
	if b.stuck != nil {
		<-b.stuck
	}
	close(b.taken)
}

type ended struct {
	at  journal.Place
	err error
}

// post sends a record of so many bytes.
func post(p *producer, size int) chan ended {
	c := make(chan ended, 2)
	p.send(&sending{done: func(at journal.Place, err error) { c <- ended{at, err} }, ProducerMessage: sarama.ProducerMessage{Topic: "t", Value: value(make([]byte, size))}})
	return c
}

// produceBy returns a producer of records of at most 10,000 bytes, and where it
// sends them.
func produceBy(v *vitals) (*producer, *brokers) {
	p := makeProducer("append", 10_000, 50_000, v)
	b := &brokers{taken: make(chan *sarama.ProducerMessage, 100), answer: p.ended}
	p.sender = b
	p.routing.Go(p.feed)
	return p, b
}

// producing runs a test of a producer.
func producing(t *testing.T, test func(t *testing.T, b *brokers, p *producer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, b := produceBy(new(vitals))
		test(t, b, p)
	})
}

func TestAnAckWithoutTheBrokersTimeHasNone(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		first, second := post(p, 1), post(p, 1)
		for i := range 2 {
			m := <-b.taken
			if m.Offset = int64(7 + i); i == 1 {
				m.Timestamp = time.UnixMilli(1234)
			}
			b.answer(m, nil)
		}
		if e := <-first; e != (ended{at: journal.Place{Offset: 7}}) {
			t.Errorf("without: %v", e)
		}
		if e := <-second; e != (ended{at: journal.Place{Offset: 8, At: 1234}}) {
			t.Errorf("with: %v", e)
		}
		p.close()
	})
}

func TestARecordThatIsTooLargeIsRefusedAtOnce(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		if e := <-post(p, 10_000); !errors.Is(e.err, journal.ErrTooLarge) {
			t.Errorf("here: %v", e.err)
		}
		there := post(p, 5000)
		b.answer(<-b.taken, sarama.ErrMessageSizeTooLarge)
		if e := <-there; !errors.Is(e.err, journal.ErrTooLarge) {
			t.Errorf("by the broker: %v", e.err)
		}
		p.close()
	})
}

func TestTheQueueIsBoundedAndKeepsItsOrder(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		var all []chan ended
		for range 8 {
			all = append(all, post(p, 9000))
		}
		synctest.Wait()
		full := slices.IndexFunc(all, func(c chan ended) bool { return len(c) > 0 })
		if full != 5 || !errors.Is((<-all[5]).err, ErrQueueFull) {
			t.Fatalf("number %d did not fit in", full)
		}
		for i := range full {
			m := <-b.taken
			m.Offset = int64(i)
			b.answer(m, nil)
			if e := <-all[i]; e.at.Offset != int64(i) {
				t.Errorf("number %d came at %d", i, e.at.Offset)
			}
		}
		if n, bytes := p.waiting(); n != 0 || bytes != 0 {
			t.Errorf("%d records of %d bytes wait", n, bytes)
		}
		p.close()
	})
}

func TestWhatIsOutAtCloseEndsWithErrClosed(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		taken, queued := post(p, 1), post(p, 1)
		m := <-b.taken
		began := time.Now()
		go func() { // is answered while Close waits
			time.Sleep(time.Second)
			b.answer(m, nil)
		}()
		p.close()
		if e := <-taken; e.err != nil {
			t.Errorf("what was answered: %v", e.err)
		}
		if e := <-queued; !errors.Is(e.err, journal.ErrClosed) {
			t.Errorf("what was not: %v", e.err)
		}
		if took := time.Since(began); took != farewell {
			t.Errorf("Close took %v", took)
		}
		if e := <-post(p, 1); !errors.Is(e.err, journal.ErrClosed) {
			t.Errorf("after Close: %v", e.err)
		}
	})
}

func TestCloseDoesNotWaitForBrokersThatAreAway(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		b.stuck = make(chan struct{})
		out := post(p, 1)
		m := <-b.taken
		began := time.Now()
		p.close()
		if took := time.Since(began); took != farewell {
			t.Errorf("Close took %v", took)
		}
		if e := <-out; !errors.Is(e.err, journal.ErrClosed) {
			t.Errorf("what was out: %v", e.err)
		}
		b.answer(m, nil) // after all
		close(b.stuck)
		synctest.Wait()
		if len(out) > 0 {
			t.Error("it has two ends")
		}
	})
}

func TestFailuresOfAppendsAreToldByHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v vitals
		p, b := produceBy(&v)
		for range 2 {
			c := post(p, 1)
			b.answer(<-b.taken, sarama.ErrKafkaStorageError)
			if e := <-c; !errors.Is(e.err, sarama.ErrKafkaStorageError) {
				t.Error(e.err)
			}
			time.Sleep(time.Minute)
		}
		all := v.problems()
		if len(all) != 1 || all[0].Part != "append" || all[0].Topic != "t" || all[0].Times != 2 || time.Since(all[0].Since) != 2*time.Minute {
			t.Errorf("problems %+v", all)
		}
		c := post(p, 1)
		b.answer(<-b.taken, nil)
		<-c
		if all := v.problems(); len(all) != 0 {
			t.Errorf("after a success: %+v", all)
		}
		p.close()
	})
}

// One whose topic is looked for for long is handed over no more: it has been
// told its end, and sarama's input is closed after that.
func TestNothingIsSentAfterClose(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		c := make(chan error, 2)
		p.send(&sending{
			done:  func(_ journal.Place, err error) { c <- err },
			route: func(*sending) error { time.Sleep(time.Minute); return nil },
		})
		p.close()
		if err := <-c; !errors.Is(err, journal.ErrClosed) {
			t.Error(err)
		}
		if m, sent := <-b.taken; sent {
			t.Errorf("%+v was sent", m)
		}
		synctest.Wait()
		if len(c) > 0 {
			t.Error("it has two ends")
		}
	})
}
