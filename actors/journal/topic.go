package journal

// Topics are ordinary topics, for whoever reads them.
type Topics interface {
	// Publish adds a message to a topic, like Append.
	Publish(m Message, done func(Place, error))
}

// Message is one of an ordinary topic.
type Message struct {
	Topic   string
	Key     string
	Value   []byte
	Headers []Header

	// Source and Number name a message that is published for a partition, whose
	// messages to a topic have the numbers 1, 2, 3, ... Every copy of one is the
	// same. Number is 0 for all others, and for what was read.
	Source Partition
	Number uint64
}

// Header is one header of a message.
type Header struct {
	Name  string
	Value []byte
}
