package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/IBM/sarama"
)

// errItsBreaker says what the client's own does.
var errItsBreaker = errors.New(itsBreaker)

// As a transaction meets it.
func TestTheClientsOwnBreakerIsExplainedWhereverItIsMet(t *testing.T) {
	met := sarama.ProducerErrors{{Msg: &sarama.ProducerMessage{Topic: "t"}, Err: errItsBreaker}}
	err := explain("publishing to t exactly once", gravest(met))
	if strings.Contains(err.Error(), itsBreaker) || !strings.Contains(err.Error(), "sarama, the client") || !errors.Is(err, errItsBreaker) {
		t.Error(err)
	}
}
