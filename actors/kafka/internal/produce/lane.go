package produce

// lane is the way to one broker. One request is on it; partitions that have
// something to send meanwhile are in line for the next.
type lane struct {
	producer *Producer
	broker   Broker
	wake     chan struct{}

	// The producer's lock guards the rest.
	line   []*partition
	busy   bool // a request is on its way, or being made
	ready  bool // the broker has answered, and wants no pause: a small request is written without waiting
	broken bool // the connection is
}

// small are the bytes of a record that its sender writes to an idle connection
// himself: they fit into the buffer of its socket.
const small = 8 << 10

// alone reports whether a partition is the only one in line, with a record that
// may be written at once.
func (l *lane) alone(part *partition, size int) bool {
	return l.ready && !l.busy && len(l.line) == 1 && l.line[0] == part &&
		part.batch == nil && len(part.queue) == 1 && size <= small
}

func (l *lane) add(part *partition) {
	part.place = lined
	l.line = append(l.line, part)
}

// hurry has the lane look at its line.
func (l *lane) hurry() {
	select {
	case l.wake <- struct{}{}:
	default: // it is about to
	}
}

// run sends what its sender has not sent himself, until the connection breaks.
func (l *lane) run() {
	for {
		select {
		case <-l.wake:
		case <-l.producer.stop:
			return
		}
		request, broken := l.next()
		if broken {
			l.broker.Close()
			l.leave()
			return
		}
		if len(request) > 0 {
			l.ship(request)
		}
	}
}

func (l *lane) next() (request []*Batch, broken bool) {
	l.producer.mu.Lock()
	defer l.producer.mu.Unlock()
	if l.busy || l.broken {
		return nil, l.broken
	}
	return l.load(), false
}

// load makes a request out of the line, in its order.
func (l *lane) load() (request []*Batch) {
	conf := &l.producer.config
	n, bytes := 0, 0
	for _, part := range l.line {
		if bytes >= conf.RequestBytes {
			break
		}
		b := part.pack(conf.BatchBytes)
		part.place = out
		request = append(request, b)
		n, bytes = n+1, bytes+b.bytes
	}
	rest := copy(l.line, l.line[n:])
	clear(l.line[rest:])
	l.line = l.line[:rest]
	l.busy = n > 0
	return request
}

// ship sends a request, whose answer is handled by who reads it.
func (l *lane) ship(request []*Batch) {
	err := l.broker.Produce(request, func(r Response, err error) { l.answered(request, r, err) })
	if err != nil {
		l.answered(request, Response{}, err)
	}
}

// answered handles what became of a request. The batches of a partition end one
// after the other: until it is told here, the partition sends no more.
func (l *lane) answered(request []*Batch, r Response, err error) {
	if err != nil {
		l.snap(request, err)
		return
	}
	verdicts := make([]verdict, len(request))
	for i, b := range request {
		verdicts[i] = b.judge(&r.Answers[i])
		l.producer.pronounce(b, verdicts[i], &r.Answers[i])
	}
	l.producer.mu.Lock()
	for i, b := range request {
		l.producer.settle(b, verdicts[i], r.Answers[i].Err)
	}
	l.busy, l.ready = false, !r.Throttled
	more := len(l.line) > 0
	l.producer.mu.Unlock()
	if more {
		l.hurry()
	}
}

// snap: the connection is broken. What was on its way may have landed.
func (l *lane) snap(request []*Batch, err error) {
	l.producer.mu.Lock()
	l.broken = true
	if l.producer.lanes[l.broker] == l {
		delete(l.producer.lanes, l.broker)
	}
	for _, b := range request {
		b.doubtful = true
		b.of.fail(err)
		l.add(b.of)
	}
	l.producer.mu.Unlock()
	l.hurry()
}

// leave gives what was in line to those who look for another leader.
func (l *lane) leave() {
	l.producer.mu.Lock()
	defer l.producer.mu.Unlock()
	for _, part := range l.line {
		part.misled = true
		part.topic.lose(part)
	}
	l.line = nil
}
