package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/IBM/sarama"
)

// errItsBreaker says what the client's own does.
var errItsBreaker = errors.New(itsBreaker)

func TestTheClientsOwnBreakerIsNotTakenForOneOfOurs(t *testing.T) {
	producing(t, func(t *testing.T, a *async, p *producer) {
		fail := func(cause error) string {
			c := post(p, 1)
			a.errors <- &sarama.ProducerError{Msg: <-a.input, Err: cause}
			err := (<-c).err
			if !errors.Is(err, cause) {
				t.Errorf("%v is not %v", err, cause)
			}
			return err.Error()
		}
		const words = "kafka: append to t, partition 0: sarama, the client, has failed three times in a row to find the broker that leads the partition, and looks for it again in 10 s at most; "
		if got := fail(errItsBreaker); got != words+"can the brokers be reached?" {
			t.Errorf("at first: %s", got)
		}
		fail(errDown)
		for range 2 { // the cause is not lost behind another refusal
			if got := fail(errItsBreaker); got != words+"it had failed with: kafka: append to t, partition 0: down" {
				t.Errorf("after a failure: %s", got)
			}
		}
		p.close()
	})
}

// As a transaction meets it.
func TestTheClientsOwnBreakerIsExplainedWhereverItIsMet(t *testing.T) {
	met := sarama.ProducerErrors{{Msg: &sarama.ProducerMessage{Topic: "t"}, Err: errItsBreaker}}
	err := explain("publishing to t exactly once", gravest(met))
	if strings.Contains(err.Error(), itsBreaker) || !strings.Contains(err.Error(), "sarama, the client") || !errors.Is(err, errItsBreaker) {
		t.Error(err)
	}
}
