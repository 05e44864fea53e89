package produce

import (
	"time"

	"github.com/IBM/sarama"
)

// topic is one with its partitions, and those of them that cannot send. Topics
// are looked after each by itself: one that was deleted holds up no other.
type topic struct {
	producer   *Producer
	name       string
	partitions map[int32]*partition
	lost       []*partition
	seeking    bool // somebody looks for what they miss
}

// lose has somebody look for what a partition misses. The producer's lock is held.
func (t *topic) lose(part *partition) {
	part.place = lost
	t.lost = append(t.lost, part)
	if !t.seeking && !t.producer.closed {
		t.seeking = true
		t.producer.work.Go(t.seek)
	}
}

// seek finds leaders and identities, and gives up what has waited for too long,
// until no partition misses one.
func (t *topic) seek() {
	for {
		all, misled, hasty := t.missing()
		if len(all) == 0 || hasty && !t.producer.pause() {
			return
		}
		var err error
		if misled {
			err = t.producer.cluster.Refresh(t.name)
		}
		for _, part := range all {
			t.find(part, err)
		}
	}
}

// missing takes those that miss something: whether one was misled, and whether
// one has failed more than once.
func (t *topic) missing() (all []*partition, misled, hasty bool) {
	t.producer.mu.Lock()
	defer t.producer.mu.Unlock()
	all, t.lost = t.lost, nil
	t.seeking = len(all) > 0
	for _, part := range all {
		misled = misled || part.misled
		hasty = hasty || part.tries > 1
	}
	return all, misled, hasty
}

// pause waits until it is time to ask again, and reports whether anybody is to.
func (p *Producer) pause() bool {
	t := time.NewTimer(p.config.Backoff)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.stop:
		return false
	}
}

// find puts a partition in line again, unless it still misses something; err is
// that of asking for its topic. What has failed for too long, or cannot succeed,
// ends.
func (t *topic) find(part *partition, err error) {
	p := t.producer
	to, id, missing := t.ask(part)
	if missing == nil {
		err = nil
	} else if err == nil {
		err = missing
	}
	p.mu.Lock()
	given, why := part.give(err, time.Now().Add(-p.config.Patience))
	p.mu.Unlock()
	p.tell(given, why)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case part.empty():
		part.place = idle
	case err != nil, part.disowned && id == part.identity: // disowned by what was given up now
		t.lose(part)
	default:
		part.reach(p.lane(to), id)
	}
}

// ask asks for what a partition misses.
func (t *topic) ask(part *partition) (to Broker, id Identity, err error) {
	if id = part.identity; part.disowned {
		if id, err = t.producer.renew(id); err != nil {
			return nil, id, err
		}
	}
	to, err = t.producer.cluster.Leader(t.name, part.index)
	return to, id, err
}

// hopeless are errors of asking that do not pass by themselves.
var hopeless = []error{
	sarama.ErrTopicAuthorizationFailed, sarama.ErrClusterAuthorizationFailed, sarama.ErrSASLAuthenticationFailed,
	sarama.ErrInvalidTopic, sarama.ErrUnsupportedVersion, sarama.ErrClosedClient,
}

// give notes that a partition still misses something, if it does, and takes what
// there is no use in waiting for, with the reason.
func (part *partition) give(err error, before time.Time) (given []*sarama.ProducerMessage, why error) {
	if err != nil {
		part.fail(err)
		part.misled = true
	}
	if oneOf(hopeless, err) {
		before = time.Now()
	}
	return part.overdue(before), part.err
}

// reach puts a partition in line that misses nothing any more.
func (part *partition) reach(l *lane, id Identity) {
	if part.disowned {
		part.own(id)
	}
	part.lane, part.misled = l, false
	l.add(part)
	l.hurry()
}
