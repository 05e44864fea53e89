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
}

// Header is one header of a message.
type Header struct {
	Name  string
	Value []byte
}
