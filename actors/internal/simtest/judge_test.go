package simtest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

var (
	here  = journal.Partition{Type: "t", Index: 0}
	there = journal.Partition{Type: "t", Index: 1}
)

// TestTheJudgeMissesWhatNobodyMayWrite: the records fit every rule that a single
// partition can check.
func TestTheJudgeMissesWhatNobodyMayWrite(t *testing.T) {
	root := record.ID{1}
	request := &record.ClientRequest{ID: root, Until: 1 << 60, Target: record.To("t", "1", 2), Method: "m"}
	at := journal.Partition(request.Target.Partition())
	link := record.Link{ID: root, Life: 1 << 60}
	takeover := &record.Takeover{Epoch: 1, Partitions: 2}
	for _, c := range []struct {
		name, want string
		write      func(c *Cluster)
	}{
		{"a step of a method that nobody ran", "P8: it is about", func(c *Cluster) {
			c.write(at, takeover, request, &record.Step{Epoch: 1, Link: link})
		}},
		{"a call of a method that nobody ran", "P8: it is about", func(c *Cluster) {
			c.write(at, takeover, request, &record.Write{Epoch: 1, Link: link})
		}},
		{"a failure of what nobody ran", "P8: it is about", func(c *Cluster) {
			c.write(at, takeover, request, &record.Failed{Epoch: 1, Link: link, Attempt: 1})
		}},
		{"mail that was never sent", "P6: mail of a partition that has no log", func(c *Cluster) {
			c.write(here, takeover, &record.Mail{Source: record.Partition(there), Number: 1, Message: new(record.Empty)})
		}},
		{"mail other than what was sent", "P6: mail 1", func(c *Cluster) {
			c.write(there, takeover)
			c.write(here, takeover, &record.Mail{Source: record.Partition(there), Number: 1, Message: new(record.Empty)})
		}},
		{"a message to a topic that was never sent", "P6: message 1", func(c *Cluster) {
			c.Log("x", -1).Publish(journal.Message{Topic: "x", Headers: []journal.Header{
				{Name: runtime.HeaderSource, Value: []byte(here.String())}, {Name: runtime.HeaderNumber, Value: []byte("1")},
			}}, func(journal.Place, error) {})
		}},
		{"a takeover by who was told once, and has taken over", "P13", func(c *Cluster) {
			c.judge.granted("a", here)
			c.write(here, &record.Takeover{Epoch: 1, Owner: "a", Partitions: 2}, &record.Takeover{Epoch: 2, Owner: "a", Partitions: 2})
		}},
		{"a cut without a snapshot", "H9: t/0 is cut off", func(c *Cluster) {
			c.write(here, takeover)
			_ = c.Log("x", -1).Truncate(context.Background(), here, 1)
		}},
		{"a snapshot of something else", "H9: the snapshot", func(c *Cluster) {
			c.write(here, takeover)
			_ = c.Log("x", -1).Save(context.Background(), here, journal.Manifest{At: 1, Core: []byte("x")}, nil)
		}},
		{"an answer that is not in the log", "H21", func(c *Cluster) {
			c.judge.answered([]byte{})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(*testing.T) {
				judge := NewJudge()
				c.write(New(Options{Partitions: 2, Judge: judge}))
				if faults := strings.Join(judge.Faults(), "\n"); !strings.Contains(faults, c.want) {
					t.Errorf("%q, want %q", faults, c.want)
				}
			})
		})
	}
}

// write lands records, whoever they are from.
func (c *Cluster) write(p journal.Partition, all ...record.Record) {
	for _, r := range all {
		c.land(p, record.Encode(r))
	}
}

func TestWhatIsLeftUndoneIsNamed(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		judge := NewJudge()
		c := New(Options{Partitions: 2, Judge: judge})
		if left := judge.Unfinished(); left != "" {
			t.Errorf("of an empty log: %s", left)
		}
		request := &record.ClientRequest{ID: record.ID{1}, Until: 1 << 60, Target: record.To("t", "1", 2), Method: "m"}
		c.write(journal.Partition(request.Target.Partition()), request)
		if left := judge.Unfinished(); !strings.Contains(left, "m of t/1") || !strings.Contains(left, "is open") {
			t.Errorf("of an open request: %q", left)
		}
	})
}
