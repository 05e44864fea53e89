package kafka

import (
	"context"

	"github.com/backstay-go/backstay/actors/kafka/internal/membership"
)

// beats is one who hears the beats of all members.
type beats struct {
	hear func(data []byte, offset, at int64)
}

// records begins to read the beats; a membership needs that, and so does who
// waits for direct answers. What both have not read yet is fetched once.
func (l *Log) records(ctx context.Context, hear func(data []byte, offset, at int64)) (stop func(), err error) {
	topic := l.config.topic(membersName)
	first, end, err := l.bounds(ctx, topic, 0)
	if err != nil {
		return nil, err
	}
	d := &feed{topic: topic, next: max(first, end-membership.History), lossy: true, sink: &beats{hear}}
	l.beats.start(d)
	return func() { l.beats.stop(d) }, nil
}

func (b *beats) take(all []message) (room bool) {
	for i := range all {
		b.hear(all[i].value, all[i].offset, all[i].at)
	}
	return true
}

// fail is called when the Log is closed.
func (b *beats) fail(error) {}
