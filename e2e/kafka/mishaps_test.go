package kafka_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// mishap is what happens to one request to append.
type mishap struct {
	name   string
	landed bool  // it is appended before
	code   int16 // what the broker says then; 0: it breaks the connection
}

// mishaps are those after which nobody knows whether a request has landed, or that
// say that it has not.
var mishaps = []mishap{
	{"the connection breaks after the request was read", false, 0},
	{"the connection breaks after it was appended", true, 0},
	{"the broker does not lead", false, 6},
	{"the broker has lost the lead after it has appended", true, 6},
	{"its copies took too long", true, 7},
	{"there were too few copies, before", false, 19},
	{"there were too few copies, after", true, 20},
}

func TestWhatHasHadAMishapIsThereOnceAndInItsPlace(t *testing.T) {
	for _, m := range mishaps {
		t.Run(m.name, func(t *testing.T) {
			c, err := kfake.NewCluster(kfake.NumBrokers(1))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			l := opened(t, config(c.ListenAddrs(), "app"))
			for i, data := range []string{"before", "in it", "after"} {
				if i == 1 {
					m.befall(t, c)
				}
				at, err := put(t, l, data)
				if err != nil || at.Offset != int64(i) {
					t.Fatalf("%s is at %d, %v", data, at.Offset, err)
				}
			}
			for i, e := range take(t, l, 0, 3) {
				if want := []string{"before", "in it", "after"}[i]; string(e.Data) != want {
					t.Errorf("%s is where %s was to be", e.Data, want)
				}
			}
		})
	}
}

// befall has it happen to the next request to append. One that lands is brought
// there by another client, as it is.
func (m mishap) befall(t *testing.T, c *kfake.Cluster) {
	t.Helper()
	other, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.MaxVersions(kversion.V3_7_0()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	var requests atomic.Int32
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if requests.Add(1) > 1 {
			return nil, nil, false
		}
		req := r.(*kmsg.ProduceRequest)
		if m.landed {
			c.SleepControl(func() {
				answer, err := req.RequestWith(t.Context(), other)
				if err != nil || answer.Topics[0].Partitions[0].ErrorCode != 0 {
					t.Errorf("it has not landed: %v, %+v", err, answer)
				}
			})
		}
		if m.code == 0 {
			return nil, errors.New("the connection breaks"), true
		}
		return refusal(req, m.code), nil, true
	})
}

// refusal answers a request to append with the same error for all partitions.
func refusal(r *kmsg.ProduceRequest, code int16) *kmsg.ProduceResponse {
	resp := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, of := range r.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = of.Topic, of.TopicID
		for _, p := range of.Partitions {
			answer := kmsg.NewProduceResponseTopicPartition()
			answer.Partition, answer.ErrorCode = p.Partition, code
			topic.Partitions = append(topic.Partitions, answer)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}
