package kafka

import (
	"cmp"
	"slices"

	"github.com/IBM/sarama"
)

// aborted are the transactions of a fetched block that came to nothing. The
// broker lists them, where it was asked for what is committed; their records are
// among the others, and end with a mark.
type aborted struct {
	coming []*sarama.AbortedTransaction // by their first offsets
	open   map[int64]struct{}           // by their producers
}

func abortedOf(b *sarama.FetchResponseBlock) *aborted {
	a := &aborted{coming: slices.Clone(b.AbortedTransactions)}
	if len(a.coming) > 0 {
		a.open = make(map[int64]struct{})
		slices.SortFunc(a.coming, func(x, y *sarama.AbortedTransaction) int { return cmp.Compare(x.FirstOffset, y.FirstOffset) })
	}
	return a
}

// has takes the next batch, and reports whether it is of one of them.
func (a *aborted) has(batch *sarama.RecordBatch) bool {
	for len(a.coming) > 0 && a.coming[0].FirstOffset <= batch.LastOffset() {
		a.open[a.coming[0].ProducerID] = struct{}{}
		a.coming = a.coming[1:]
	}
	if batch.Control {
		if isAbort(batch) {
			delete(a.open, batch.ProducerID)
		}
		return false
	}
	_, is := a.open[batch.ProducerID]
	return is && batch.IsTransactional
}

// isAbort reports whether a batch is the mark that ends an aborted transaction:
// its key is a version and a type, of two bytes each.
func isAbort(batch *sarama.RecordBatch) bool {
	const keySize = 4
	if len(batch.Records) == 0 || len(batch.Records[0].Key) < keySize {
		return false
	}
	key := batch.Records[0].Key
	return sarama.ControlRecordType(int(key[2])<<8|int(key[3])) == sarama.ControlRecordAbort
}
