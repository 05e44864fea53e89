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
	seeking    bool          // somebody looks for what they miss
	more       chan struct{} // has him look who was lost while he waits
	asked      time.Time     // his: when the last answer was known
}

func newTopic(p *Producer, name string) *topic {
	return &topic{producer: p, name: name, partitions: make(map[int32]*partition), more: make(chan struct{}, 1)}
}

// lose has somebody look for what a partition misses. The producer's lock is held.
func (t *topic) lose(part *partition) {
	part.place = lost
	t.lost = append(t.lost, part)
	switch {
	case t.seeking:
		select {
		case t.more <- struct{}{}:
		default: // he is about to
		}
	case !t.producer.closed:
		t.seeking = true
		t.producer.work.Go(t.seek)
	}
}

// seek finds leaders and identities, and gives up what has waited for too long,
// until no partition misses one.
func (t *topic) seek() {
	for t.wait() {
		all, misled := t.missing()
		if len(all) == 0 {
			return
		}
		var err error
		if misled {
			err = t.producer.cluster.Refresh(t.name)
		}
		for _, part := range all {
			t.find(part, err)
		}
		t.asked = time.Now()
	}
}

// missing takes those that miss something, and says whether one was misled.
func (t *topic) missing() (all []*partition, misled bool) {
	t.producer.mu.Lock()
	defer t.producer.mu.Unlock()
	all, t.lost = t.lost, nil
	t.seeking = len(all) > 0
	for _, part := range all {
		misled = misled || part.misled
	}
	return all, misled
}

// wait waits until it is time to ask again, and reports whether anybody is to.
func (t *topic) wait() bool {
	for {
		d := t.pause()
		if d <= 0 {
			return true
		}
		timer := time.NewTimer(d)
		select {
		case <-timer.C:
			return true
		case <-t.more:
			timer.Stop()
		case <-t.producer.stop:
			timer.Stop()
			return false
		}
	}
}

// longestPause is the longest between two times of asking.
const longestPause = time.Second

// pause is for how long nobody is to ask again. What has failed once is in a hurry,
// for its leader has just moved. When one has failed twice, an election may go on,
// and no answer adds more than a tenth to the time that it takes.
func (t *topic) pause() time.Duration {
	t.producer.mu.Lock()
	defer t.producer.mu.Unlock()
	now, hasty := time.Now(), false
	shortest := longestPause
	for _, part := range t.lost {
		hasty = hasty || part.tries > 1
		shortest = min(shortest, part.failingFor(now)/10)
	}
	if !hasty {
		return 0
	}
	return max(shortest, t.producer.config.Backoff) - now.Sub(t.asked)
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
