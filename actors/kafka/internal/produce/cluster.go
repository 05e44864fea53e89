package produce

import (
	"time"

	"github.com/IBM/sarama"
)

// Cluster is what a producer asks of the brokers.
type Cluster interface {
	// Leader is the broker that leads a partition, as far as that is known.
	// Nobody calls it who must not wait.
	Leader(topic string, partition int32) (Broker, error)
	// Refresh asks the brokers who leads the partitions of a topic.
	Refresh(topic string) error
	// Identify returns an identity that nobody has had.
	Identify() (Identity, error)
	// Close closes all connections to leaders. Nothing is asked any more.
	Close()
}

// Broker is a connection to one. It can be compared.
type Broker interface {
	// Produce sends a request. Unless it returns an error, answered is called
	// once, with an answer for each batch, or with an error of the connection.
	// It does not wait for the answer, but it may for the connection, and for as
	// long as the broker has asked for.
	Produce(batches []*Batch, answered func(Response, error)) error
	// Close closes the connection, which the next to be told of this leader
	// opens again.
	Close()
}

// Identity is the one under which a broker knows what it has appended already.
type Identity struct {
	ID    int64
	Epoch int16
}

// nobody is no identity: brokers count from zero.
var nobody = Identity{ID: -1, Epoch: -1}

// Batch are records of one partition that are appended together or not at all.
type Batch struct {
	Topic     string
	Partition int32
	Records   []*sarama.ProducerMessage
	Identity  Identity
	First     int32 // number of the first record, of those of Identity in this partition

	of       *partition
	bytes    int
	since    time.Time // as of the first record
	doubtful bool      // a try of it may have landed
}

// Answer is how a batch has ended.
type Answer struct {
	Err    error
	Offset int64     // of the first record
	At     time.Time // when the broker appended it; zero if it has not told
}

// Response are the answers to a request, in the order of its batches.
type Response struct {
	Answers []Answer
	// Throttled: the next request may have to wait, for the broker wants it later
	// or wants to know again who sends it.
	Throttled bool
}
