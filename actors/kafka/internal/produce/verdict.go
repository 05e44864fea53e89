package produce

import (
	"errors"
	"fmt"
	"slices"

	"github.com/IBM/sarama"
)

// verdict is what follows from the answer for a batch.
type verdict int

const (
	appended verdict = iota
	again            // it may pass: as it was, at the leader of then
	anew             // the broker does not know what came before: under another identity
	divided          // it is larger than the broker takes: in parts
	refused          // for good
)

var (
	passing = []error{
		sarama.ErrInvalidMessage, sarama.ErrUnknownTopicOrPartition, sarama.ErrLeaderNotAvailable,
		sarama.ErrNotLeaderForPartition, sarama.ErrNotEnoughReplicas, sarama.ErrKafkaStorageError,
		sarama.ErrFencedLeaderEpoch, sarama.ErrUnknownLeaderEpoch, sarama.ErrNetworkException,
		sarama.ErrRequestTimedOut, sarama.ErrNotEnoughReplicasAfterAppend, sarama.ErrIncompleteResponse,
	}
	strange  = []error{sarama.ErrOutOfOrderSequenceNumber, sarama.ErrUnknownProducerID, sarama.ErrInvalidProducerEpoch}
	tooLarge = []error{sarama.ErrMessageSizeTooLarge, sarama.ErrMessageSetSizeTooLarge}
	// harmless are those of a batch that is not appended. With any other it may be:
	// a broker that loses the lead while it waits for copies says that it does not
	// lead.
	harmless = slices.Concat(strange, tooLarge, []error{
		sarama.ErrInvalidMessage, sarama.ErrNotEnoughReplicas, sarama.ErrTopicAuthorizationFailed,
	})
)

// nowhere is the offset of what has landed so long ago that the broker has
// forgotten where.
const nowhere = -1

func oneOf(all []error, err error) bool {
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}

// judge says what follows from an answer. It makes an error of the answer say
// what is known.
func (b *Batch) judge(a *Answer) verdict {
	b.doubtful = b.doubtful || a.Err != nil && !oneOf(harmless, a.Err)
	switch {
	case a.Err == nil:
		return appended
	case errors.Is(a.Err, sarama.ErrDuplicateSequenceNumber):
		*a = Answer{Offset: nowhere}
		return appended
	case oneOf(passing, a.Err):
		return again
	case oneOf(strange, a.Err):
		return anew
	case !oneOf(tooLarge, a.Err):
		return refused
	case len(b.Records) > 1:
		return divided
	case b.doubtful:
		a.Err = fmt.Errorf("a record that may have landed is refused now: %v", a.Err) //nolint:errorlint // it must not match what surely has not landed
	}
	return refused
}

// pronounce tells how the records of a batch have ended, if they have.
func (p *Producer) pronounce(b *Batch, v verdict, a *Answer) {
	switch v {
	case appended:
		for i, m := range b.Records {
			if m.Offset, m.Timestamp = 0, a.At; a.Offset != nowhere {
				m.Offset = a.Offset + int64(i)
			}
		}
		p.tell(b.Records, nil)
	case refused:
		p.tell(b.Records, a.Err)
	case again, anew, divided:
	}
}

// settle moves the partition of a batch on.
func (p *Producer) settle(b *Batch, v verdict, err error) {
	part := b.of
	switch v {
	case appended:
		part.landed(b)
	case again:
		part.fail(err)
		part.misled = true
	case anew:
		part.fail(err)
		part.disowned = true
	case divided:
		part.divide()
	case refused:
		part.refuse()
	}
	if part.empty() {
		part.place = idle
		return
	}
	p.line(part)
}
