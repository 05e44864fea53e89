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

// async is sarama's producer as far as ours needs it, with answers by hand.
type async struct {
	sarama.AsyncProducer
	input     chan *sarama.ProducerMessage
	successes chan *sarama.ProducerMessage
	errors    chan *sarama.ProducerError
	stuck     chan struct{} // closes as late as this
}

func newAsync() *async {
	return &async{input: make(chan *sarama.ProducerMessage), successes: make(chan *sarama.ProducerMessage), errors: make(chan *sarama.ProducerError)}
}

func (a *async) Input() chan<- *sarama.ProducerMessage     { return a.input }
func (a *async) Successes() <-chan *sarama.ProducerMessage { return a.successes }
func (a *async) Errors() <-chan *sarama.ProducerError      { return a.errors }

func (a *async) AsyncClose() {
	go func() {
		if a.stuck != nil {
			<-a.stuck
		}
		close(a.input)
		close(a.successes)
		close(a.errors)
	}()
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

// producing runs a test of a producer of records of at most 10,000 bytes.
func producing(t *testing.T, test func(t *testing.T, a *async, p *producer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := newAsync()
		var v vitals
		test(t, a, produceOn(a, "append", 10_000, 50_000, &v))
	})
}

func TestAnAckWithoutTheBrokersTimeHasNone(t *testing.T) {
	producing(t, func(t *testing.T, a *async, p *producer) {
		first, second := post(p, 1), post(p, 1)
		for i := range 2 {
			m := <-a.input
			if m.Offset = int64(7 + i); i == 1 {
				m.Timestamp = time.UnixMilli(1234)
			}
			a.successes <- m
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
	producing(t, func(t *testing.T, a *async, p *producer) {
		if e := <-post(p, 10_000); !errors.Is(e.err, journal.ErrTooLarge) {
			t.Errorf("here: %v", e.err)
		}
		there := post(p, 5000)
		a.errors <- &sarama.ProducerError{Msg: <-a.input, Err: sarama.ErrMessageSizeTooLarge}
		if e := <-there; !errors.Is(e.err, journal.ErrTooLarge) {
			t.Errorf("by the broker: %v", e.err)
		}
		p.close()
	})
}

func TestTheQueueIsBoundedAndKeepsItsOrder(t *testing.T) {
	producing(t, func(t *testing.T, a *async, p *producer) {
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
			m := <-a.input
			m.Offset = int64(i)
			a.successes <- m
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
	producing(t, func(t *testing.T, a *async, p *producer) {
		taken, queued := post(p, 1), post(p, 1)
		m := <-a.input
		began := time.Now()
		go func() { // is answered while Close waits
			time.Sleep(time.Second)
			a.successes <- m
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
	producing(t, func(t *testing.T, a *async, p *producer) {
		a.stuck = make(chan struct{})
		out := post(p, 1)
		m := <-a.input
		began := time.Now()
		p.close()
		if took := time.Since(began); took != farewell {
			t.Errorf("Close took %v", took)
		}
		if e := <-out; !errors.Is(e.err, journal.ErrClosed) {
			t.Errorf("what was out: %v", e.err)
		}
		a.successes <- m // after all
		close(a.stuck)
		synctest.Wait()
		if len(out) > 0 {
			t.Error("it has two ends")
		}
	})
}

func TestFailuresOfAppendsAreToldByHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsync()
		var v vitals
		p := produceOn(a, "append", 10_000, 50_000, &v)
		for range 2 {
			c := post(p, 1)
			a.errors <- &sarama.ProducerError{Msg: <-a.input, Err: sarama.ErrKafkaStorageError}
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
		a.successes <- <-a.input
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
	producing(t, func(t *testing.T, a *async, p *producer) {
		c := make(chan error, 2)
		p.send(&sending{
			done:  func(_ journal.Place, err error) { c <- err },
			route: func(*sending) error { time.Sleep(time.Minute); return nil },
		})
		p.close()
		if err := <-c; !errors.Is(err, journal.ErrClosed) {
			t.Error(err)
		}
		if m, sent := <-a.input; sent {
			t.Errorf("%+v was sent", m)
		}
		synctest.Wait()
		if len(c) > 0 {
			t.Error("it has two ends")
		}
	})
}
