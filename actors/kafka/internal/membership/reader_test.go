package membership

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/IBM/sarama"
)

// remade is a topic that ends at an offset, and what is read of it.
type remade struct {
	sarama.Client
	end      int64
	messages chan *sarama.ConsumerMessage
}

func (r *remade) GetOffset(_ string, _ int32, at int64) (int64, error) {
	if at == sarama.OffsetOldest {
		return 0, nil
	}
	return r.end, nil
}

// opening is its consumer, and opened what that opens.
type (
	opening struct {
		sarama.Consumer
		of *remade
	}
	opened struct {
		sarama.PartitionConsumer
		messages chan *sarama.ConsumerMessage
	}
)

func (o opening) ConsumePartition(string, int32, int64) (sarama.PartitionConsumer, error) {
	o.of.messages = make(chan *sarama.ConsumerMessage, 2)
	return opened{messages: o.of.messages}, nil
}

func (o opened) Messages() <-chan *sarama.ConsumerMessage { return o.messages }
func (o opened) Errors() <-chan *sarama.ConsumerError     { return nil }
func (o opened) AsyncClose()                              {}

func TestATopicThatWasMadeAnewIsReadFromItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []int64
		topic := &remade{end: 5000}
		r := &reader{
			client: topic, source: opening{of: topic}, written: func() int64 { return 0 },
			heard: func(b *beat, _ int64) { heard = append(heard, int64(b.Seq)) },
		}
		r.trouble.tell = func(error) {}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		from, err := r.open()
		if err != nil {
			t.Fatal(err)
		}
		say := func(offset int64) {
			topic.messages <- &sarama.ConsumerMessage{Offset: offset, Value: (&beat{Version: 1, ID: "a", Seq: uint64(offset)}).encode()}
		}
		say(5000)
		close(topic.messages)
		topic.end = 3
		go r.run(ctx, from)
		synctest.Wait()
		time.Sleep(reopenAfter)
		synctest.Wait()
		say(2) // of before it was opened
		say(3)
		synctest.Wait()
		if !slices.Equal(heard, []int64{5000, 3}) {
			t.Errorf("heard %v", heard)
		}
	})
}
