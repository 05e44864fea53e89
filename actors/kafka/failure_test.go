package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

func TestErrorsOfAppends(t *testing.T) {
	cases := map[error]struct {
		is   error // of the port; nil: none, the entry may have landed
		says string
	}{
		sarama.ErrMessageSizeTooLarge:                {journal.ErrTooLarge, ""},
		sarama.ErrShuttingDown:                       {journal.ErrClosed, ""},
		sarama.ErrUnknownTopicOrPartition:            {nil, "was it deleted?"},
		sarama.ErrTopicAuthorizationFailed:           {nil, "no permission"},
		sarama.ErrKafkaStorageError:                  {nil, "disk"},
		sarama.ErrTransactionalIDAuthorizationFailed: {nil, "Describe and Write on every TransactionalId"},
		sarama.ErrNotEnoughReplicas:                  {nil, "in sync"},
		sarama.ErrRequestTimedOut:                    {nil, ""},
	}
	ours := []error{journal.ErrTooLarge, journal.ErrClosed, journal.ErrNoType, journal.ErrOutOfRange}
	for cause, want := range cases {
		err := refused("append to a", cause)
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "append to a") || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%v: %v", cause, err)
		}
		for _, o := range ours {
			if errors.Is(err, o) != (o == want.is) {
				t.Errorf("%v matches %v: %v", err, o, o != want.is)
			}
		}
	}
}
