package runtime

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/internal/hook"
)

// intake takes one partition of a topic in: a goroutine that reads messages,
// makes a record of them, and has the loop append it; the next one only when
// that is applied.
type intake struct {
	inc     *incarnation
	ingest  *Ingest
	source  journal.Source
	reader  journal.SourceReader // nil: to be opened
	unused  []journal.Sourced    // read, and in no record yet
	woken   chan struct{}        // holds one
	settled chan uint64          // holds one: the position, after an offer
}

func newIntake(inc *incarnation, g *Ingest, partition uint32) *intake {
	return &intake{
		inc: inc, ingest: g, source: journal.Source{Topic: g.Topic, Partition: partition},
		woken: make(chan struct{}, 1), settled: make(chan uint64, 1),
	}
}

// Waits after a failure, doubled from one to the other.
const (
	intakeAgain   = 100 * time.Millisecond
	intakeAgainAt = 10 * time.Second
)

// run goes on until the incarnation ends.
func (k *intake) run(ctx context.Context) {
	defer k.close()
	position, ok := k.put(new(record.Ingest))
	for failures := 0; ok; {
		r, err := k.next(ctx, position)
		switch {
		case err != nil:
			again := min(intakeAgain<<min(failures, 10), intakeAgainAt)
			failures++
			k.close()
			k.inc.astray(k.source.String(), fmt.Errorf("runtime: ingesting %v: %w", k.source, err), again)
			ok = k.inc.sleep(again)
			continue
		case r == nil:
			ok = k.wait()
		default:
			if position, ok = k.put(r); position != r.To { // somebody else has moved it
				k.close()
			}
		}
		failures = 0
	}
}

// put offers a record to the loop, and waits until it is settled.
func (k *intake) put(r *record.Ingest) (position uint64, ok bool) {
	k.inc.post(&offer{k, r})
	select {
	case position = <-k.settled:
		return position, true
	case <-k.inc.gone:
		return 0, false
	}
}

// wait waits until the reader may have something.
func (k *intake) wait() bool {
	select {
	case <-k.woken:
		return true
	case <-k.inc.gone:
		return false
	}
}

func (k *intake) wake() {
	select {
	case k.woken <- struct{}{}:
	default:
	}
}

func (k *intake) close() {
	k.unused = nil
	if k.reader != nil {
		k.reader.Close()
		k.reader = nil
	}
}

// next returns the record that goes on from a position, nil if there is nothing
// yet.
func (k *intake) next(ctx context.Context, position uint64) (*record.Ingest, error) {
	if k.reader == nil {
		if first, err := k.open(ctx, position); first != nil || err != nil {
			return first, err
		}
	}
	if len(k.unused) == 0 {
		var err error
		if k.unused, err = k.reader.Poll(ingestBytes); errors.Is(err, journal.ErrOutOfRange) {
			k.close() // opening it finds out
			k.wake()
			return nil, nil
		} else if err != nil || len(k.unused) == 0 {
			return nil, err
		}
	}
	return k.gather(ctx, position)
}

// open opens the reader. A source that nobody has begun is begun at its end by a
// record that says so: messages that come before anything is ingested must not
// be taken for older ones by the next owner.
func (k *intake) open(ctx context.Context, position uint64) (*record.Ingest, error) {
	first, end, err := k.inc.node.sources.SourceBounds(ctx, k.source)
	if err != nil {
		return nil, err
	}
	from := first
	switch {
	case position == 0 && k.ingest.FromEnd:
		return k.record(0, end), nil
	case position > 0:
		from = int64(position - 1) //nolint:gosec // it was an offset
	}
	switch {
	case from > end:
		return nil, fmt.Errorf("it ends at offset %d, and was ingested up to %d: was the topic made anew? Its name stands for its messages for ever", end, from)
	case from < first:
		k.inc.node.report(Event{
			Kind: OutputLost, Partition: k.inc.self, Epoch: k.inc.epoch, Name: k.source.String(),
			Err: fmt.Errorf("runtime: %v begins at offset %d: the messages from %d on were deleted before they were ingested", k.source, first, from),
		})
		from = first
	}
	k.reader, err = k.inc.node.sources.ReadSource(k.source, from, k.wake)
	return nil, err
}

// record moves a position to before an offset.
func (k *intake) record(position uint64, offset int64) *record.Ingest {
	return &record.Ingest{
		Epoch: k.inc.epoch, Topic: k.source.Topic, TopicPartition: k.source.Partition, From: position, To: uint64(offset) + 1, //nolint:gosec // offsets are positive
	}
}

// gather makes a record of what was read.
func (k *intake) gather(ctx context.Context, position uint64) (*record.Ingest, error) {
	r := k.record(position, 0)
	size, n := 0, 0
	for most := min(ingestMost, k.inc.backlog()); n < len(k.unused) && n < most; n++ {
		m := &k.unused[n]
		x, err := k.take(ctx, m)
		if err != nil {
			return nil, err
		}
		weight := sizeOf(&x.Call)
		if x.Dead != nil {
			weight = weightOf(x.Dead)
		}
		if size += weight; n > 0 && size > ingestBytes {
			break
		}
		if x.Dead != nil || x.Call.Method != "" {
			r.Messages = append(r.Messages, x)
		}
		r.To = uint64(m.Offset) + 2 //nolint:gosec // offsets are positive
	}
	k.unused = k.unused[n:]
	return r, nil
}

// take makes of a message what it becomes: a call, a dead letter, or nothing. An
// error is worth another try.
func (k *intake) take(ctx context.Context, m *journal.Sourced) (x record.Ingested, err error) {
	x.Offset = uint64(m.Offset) //nolint:gosec // offsets are positive
	call, fault := k.mapped(m)
	if call == nil && fault == nil {
		return x, nil
	}
	if fault == nil {
		if fault, err = k.address(ctx, call); err != nil {
			return x, err
		}
	}
	if fault != nil {
		x.Dead = k.dead(m, fault)
	} else {
		x.Call = *call
	}
	return x, nil
}

// mapped calls the function of the application, and says what is wrong with a
// message that it does not return from.
func (k *intake) mapped(m *journal.Sourced) (call *record.Call, fault error) {
	failure := hook.Call(func() { call, fault = k.ingest.Map(k.source, m) })
	switch {
	case failure == nil:
		return call, fault
	case failure.Panic != nil:
		fault = fmt.Errorf("panicked: %v", failure.Panic)
	default:
		fault = errors.New("the function ended its goroutine")
	}
	k.inc.node.report(Event{Kind: HookPanicked, Partition: k.inc.self, Epoch: k.inc.epoch, Name: k.source.String(), Err: fmt.Errorf("runtime: ingesting %v: %w\n%s", k.source, fault, failure.Stack)})
	return nil, fault
}

// address completes a call, and says what is wrong with one that no actor can
// have.
func (k *intake) address(ctx context.Context, c *record.Call) (fault, err error) {
	if c.Target.Type == "" || c.Target.Actor == "" || c.Method == "" {
		return errors.New("its tell names no actor or no method"), nil
	}
	if size, most := sizeOf(c), k.inc.node.config.MaxRecord; size > most {
		return fmt.Errorf("its tell has %d bytes, more than %d", size, most), nil
	}
	count, err := k.inc.node.count(ctx, c.Target.Type)
	switch {
	case errors.Is(err, journal.ErrNoType):
		return err, nil
	case err == nil:
		c.Target = record.To(c.Target.Type, c.Target.Actor, count)
	}
	return nil, err
}

// dead is the dead letter of a message: it with its headers, and why. Without a
// topic for them it is nil. What is too large for a letter stays where it is.
func (k *intake) dead(m *journal.Sourced, why error) *record.Posted {
	origin := k.source.String() + "/" + strconv.FormatInt(m.Offset, 10)
	config := &k.inc.node.config
	if config.DeadTopic == "" {
		k.inc.node.report(Event{Kind: OutputLost, Partition: k.inc.self, Epoch: k.inc.epoch, Name: origin, Err: fmt.Errorf("runtime: %s is no request, and there is no topic for dead letters: %w", origin, why)})
		return nil
	}
	p := &record.Posted{Topic: config.DeadTopic, Key: m.Key, Value: m.Value}
	size := len(m.Key) + len(m.Value)
	for _, h := range m.Headers {
		size += len(h.Name) + len(h.Value)
		p.Headers = append(p.Headers, record.Attribute{Name: h.Name, Value: h.Value})
	}
	detail := brief(why.Error())
	if size > config.MaxRecord {
		p.Key, p.Value, p.Headers = "", nil, nil
		detail += fmt.Sprintf("; the message of %d bytes is too large for a letter", size)
	}
	p.Headers = append(p.Headers, record.Attribute{Name: HeaderOrigin, Value: []byte(origin)}, record.Attribute{Name: HeaderDetail, Value: []byte(detail)})
	return p
}
