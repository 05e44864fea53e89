package kafka

import (
	"context"
	"maps"
	"slices"
	"time"
)

// watchEvery is how often topics are looked at again.
const watchEvery = time.Minute

// watch looks at the topics that are in use: somebody may delete them, add
// partitions, or have records expire. Health tells of it.
func (l *Log) watch() {
	for sleep(l.ctx, watchEvery) == nil {
		err := l.review(l.ctx)
		if l.ctx.Err() == nil {
			l.vitals.note(vital{part: "topics", partition: noPartition}, err)
		}
	}
}

// review returns everything that is wrong with the topics that are in use.
func (l *Log) review(ctx context.Context) error {
	l.mu.RLock()
	counts := maps.Clone(l.counts)
	l.mu.RUnlock()
	topics := l.config.shared()
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		topics = append(topics, l.config.ofType(t, counts[t])...)
	}
	_, err := l.desk.check(ctx, 1, topics...)
	return err
}
