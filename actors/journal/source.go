package journal

import (
	"context"
	"fmt"
)

// Sources are ordinary topics, for actors that take their messages in. A [Log]
// that has them implements this, too.
type Sources interface {
	// SourceCount is the number of partitions of a topic. It may grow.
	SourceCount(ctx context.Context, topic string) (uint32, error)
	// ReadSource opens a reader whose first message has the offset from, or the
	// next one that exists. wake is called whenever Poll may have something new.
	ReadSource(s Source, from int64, wake func()) (SourceReader, error)
	// SourceBounds are the offset of the first message that is there, and the one
	// that the next message will have.
	SourceBounds(ctx context.Context, s Source) (first, next int64, err error)
}

// Source is a partition of an ordinary topic.
type Source struct {
	Topic     string
	Partition uint32
}

// String reads, for example, "orders/3".
func (s Source) String() string { return fmt.Sprintf("%s/%d", s.Topic, s.Partition) }

// Sourced is a message of a source, and where it is.
type Sourced struct {
	Place
	Message
}

// SourceReader reads a source onwards. It is for one goroutine.
type SourceReader interface {
	// Poll returns the next messages, none if there are none yet, without
	// waiting: messages that are within about maxBytes together, at least one.
	// They must not be changed. An error matches ErrOutOfRange, or is worth
	// another try. What the Poll before has returned is done with.
	Poll(maxBytes int) ([]Sourced, error)
	// Close ends it. A call of wake that is under way may end after it.
	Close()
}
