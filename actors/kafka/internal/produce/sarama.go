package produce

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// Connect returns the cluster of a client. The client should not repeat what
// fails, which a [Producer] does. Records have connections of their own: on one
// that a question is out on, who sends a record would wait for the answer to it.
func Connect(client sarama.Client) Cluster {
	return &cluster{client: client, conf: client.Config(), brokers: make(map[int32]broker), unled: make(map[string]error)}
}

type cluster struct {
	client sarama.Client
	conf   *sarama.Config

	mu      sync.Mutex
	brokers map[int32]broker // by id
	unled   map[string]error // topics that have had no leader when they were last asked for, and why
}

func (c *cluster) Refresh(topic string) error {
	c.mu.Lock()
	delete(c.unled, topic)
	c.mu.Unlock()
	return c.client.RefreshMetadata(topic)
}

// Leader asks the client only for what it knows: it would ask the brokers again
// for each partition that has no leader.
func (c *cluster) Leader(topic string, partition int32) (Broker, error) {
	led, err := c.led(topic)
	if err != nil {
		return nil, err
	}
	if slices.Contains(led, partition) {
		b, err := c.client.Leader(topic, partition)
		if err != nil {
			return nil, err
		}
		return c.connection(b), nil
	}
	if all, err := c.client.Partitions(topic); err == nil && slices.Contains(all, partition) {
		return nil, sarama.ErrLeaderNotAvailable
	}
	return nil, sarama.ErrUnknownTopicOrPartition
}

// led are the partitions of a topic that have leaders. Where none has, the client
// asks the brokers again; once is enough.
func (c *cluster) led(topic string) ([]int32, error) {
	c.mu.Lock()
	err := c.unled[topic]
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	led, err := c.client.WritablePartitions(topic)
	if err == nil && len(led) == 0 {
		err = sarama.ErrLeaderNotAvailable
	}
	if errors.Is(err, sarama.ErrLeaderNotAvailable) || errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
		c.mu.Lock()
		c.unled[topic] = err
		c.mu.Unlock()
	}
	return led, err
}

// connection is the one to a broker, which is open or about to be. One to where
// the broker was before is closed.
func (c *cluster) connection(to *sarama.Broker) broker {
	c.mu.Lock()
	before, ok := c.brokers[to.ID()]
	moved := ok && before.Addr() != to.Addr()
	b := before
	if !ok || moved {
		b = broker{sarama.NewBroker(to.Addr()), c.conf}
		c.brokers[to.ID()] = b
	}
	_ = b.Open(c.conf) // unless it is; what fails is told by Produce
	c.mu.Unlock()
	if moved {
		before.Close()
	}
	return b
}

func (c *cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.brokers {
		b.Close()
	}
}

func (c *cluster) Identify() (Identity, error) {
	b := c.client.LeastLoadedBroker()
	if b == nil {
		return Identity{}, sarama.ErrOutOfBrokers
	}
	res, err := b.InitProducerID(&sarama.InitProducerIDRequest{Version: c.identifying(), ProducerID: -1, ProducerEpoch: -1})
	switch {
	case err != nil:
		_ = b.Close() // or it would not be connected to again
		return Identity{}, err
	case res.Err != sarama.ErrNoError:
		return Identity{}, res.Err
	}
	return Identity{res.ProducerID, res.ProducerEpoch}, nil
}

// identifying is the version of the request for an identity.
func (c *cluster) identifying() int16 {
	switch v := c.conf.Version; {
	case v.IsAtLeast(sarama.V2_7_0_0):
		return 4
	case v.IsAtLeast(sarama.V2_5_0_0):
		return 3
	default:
		return 2 // since 2.4
	}
}

// broker is a connection, with what its requests are made by.
type broker struct {
	*sarama.Broker
	conf *sarama.Config
}

// Produce refuses what cannot be a request at all, as a broker would.
func (b broker) Produce(batches []*Batch, answered func(Response, error)) error {
	req, err := b.request(batches)
	if err == nil {
		err = b.AsyncProduce(req, func(res *sarama.ProduceResponse, err error) {
			if err != nil {
				answered(Response{}, err)
				return
			}
			slow := res.ThrottleTime > 0 || b.conf.Net.SASL.Enable // the next request may have to sign in again first
			answered(Response{Answers: answers(batches, res), Throttled: slow}, nil)
		})
	}
	if _, unfit := errors.AsType[sarama.PacketEncodingError](err); unfit || errors.Is(err, sarama.ErrUnsupportedVersion) {
		answered(Response{Answers: slices.Repeat([]Answer{{Err: err}}, len(batches))}, nil)
		return nil
	}
	return err
}

func (b broker) Close() { _ = b.Broker.Close() } // it may be closed already

// producing is the version of the request.
func (b broker) producing() int16 {
	switch v := b.conf.Version; {
	case v.IsAtLeast(sarama.V3_7_0_0):
		return 10
	case v.IsAtLeast(sarama.V2_8_0_0):
		return 9
	default:
		return 8 // since 2.4
	}
}

func (b broker) request(batches []*Batch) (*sarama.ProduceRequest, error) {
	req := &sarama.ProduceRequest{
		RequiredAcks: b.conf.Producer.RequiredAcks, Version: b.producing(),
		Timeout: int32(b.conf.Producer.Timeout / time.Millisecond), //nolint:gosec // some seconds
	}
	for _, batch := range batches {
		form, err := b.form(batch)
		if err != nil {
			return nil, sarama.PacketEncodingError{Info: err.Error()}
		}
		req.AddBatch(batch.Topic, batch.Partition, form)
	}
	return req, nil
}

// form is a batch as it is sent.
func (b broker) form(batch *Batch) (*sarama.RecordBatch, error) {
	now := time.Now().Truncate(time.Millisecond)
	form := &sarama.RecordBatch{
		Version: 2, Codec: b.conf.Producer.Compression, CompressionLevel: b.conf.Producer.CompressionLevel,
		FirstTimestamp: now, MaxTimestamp: now, LastOffsetDelta: int32(len(batch.Records) - 1), //nolint:gosec // a count
		ProducerID: batch.Identity.ID, ProducerEpoch: batch.Identity.Epoch, FirstSequence: batch.First,
		Records: make([]*sarama.Record, len(batch.Records)),
	}
	records := make([]sarama.Record, len(batch.Records))
	for i, m := range batch.Records {
		r := &records[i]
		if err := fill(r, m); err != nil {
			return nil, err
		}
		r.OffsetDelta = int64(i)
		form.Records[i] = r
	}
	return form, nil
}

func fill(r *sarama.Record, m *sarama.ProducerMessage) (err error) {
	if m.Key != nil {
		if r.Key, err = m.Key.Encode(); err != nil {
			return err
		}
	}
	if m.Value != nil {
		if r.Value, err = m.Value.Encode(); err != nil {
			return err
		}
	}
	for i := range m.Headers {
		r.Headers = append(r.Headers, &m.Headers[i])
	}
	return nil
}

// answers puts the answers of a response into the order of the batches.
func answers(batches []*Batch, res *sarama.ProduceResponse) []Answer {
	all := make([]Answer, len(batches))
	for i, b := range batches {
		switch block := res.GetBlock(b.Topic, b.Partition); {
		case block == nil:
			all[i].Err = sarama.ErrIncompleteResponse
		case block.Err != sarama.ErrNoError:
			all[i].Err = block.Err
		default:
			all[i] = Answer{Offset: block.Offset, At: block.Timestamp}
		}
	}
	return all
}
