package kafka

import (
	"reflect"

	"github.com/IBM/sarama"
)

// emptyTo is the offset after the batches of a block that has no records, 0 if it
// has no batches either. Compaction leaves such batches behind, to remember a
// producer by; one may be as long as thousands of records were. sarama knows where
// they end, by which its own consumer goes on, and tells nobody else.
func emptyTo(b *sarama.FetchResponseBlock) int64 {
	next := reflect.ValueOf(b).Elem().FieldByName("recordsNextOffset")
	if next.Kind() != reflect.Pointer || next.IsNil() {
		return 0
	}
	return next.Elem().Int()
}
