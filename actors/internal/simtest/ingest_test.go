package simtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
	"github.com/backstay-go/backstay/actors/journal"
)

// Type s takes the topic "orders" in: each partition of it is told to an actor of
// its own, which writes down what it hears. Of the messages, which are numbered,
// some are broken and some are left out.

func broken(n int) bool  { return n%7 == 3 }
func leftOut(n int) bool { return n%7 == 5 }

func ear(s uint32) string { return fmt.Sprint("ear", s) }

func (w *world) hearing() runtime.Type {
	settings := w.setting
	settings.MaxAttempts = 1000 // what is given up would not be heard
	return runtime.Type{
		Name: "s", Settings: settings, Methods: map[string]runtime.Method{"hear": {Run: hear}},
		Ingests: []runtime.Ingest{{Topic: "orders", Map: func(s journal.Source, m *journal.Sourced) (*record.Call, error) {
			switch n, _ := strconv.Atoi(string(m.Value)); {
			case broken(n):
				return nil, errors.New("on purpose")
			case leftOut(n):
				return nil, nil
			default:
				return &record.Call{Target: address("s/" + ear(s.Partition)), Method: "hear", Args: m.Value}, nil
			}
		}}},
	}
}

func hear(ctx context.Context, a *runtime.Attempt) runtime.End {
	p := &play{Attempt: a, ctx: ctx}
	if err := p.note(string(a.Request().Args) + " "); err != nil {
		return again(err)
	}
	nap(ctx, time.Millisecond)
	if _, err := p.perform(&op{Do: "point"}); err != nil {
		return again(err)
	}
	return runtime.End{}
}

// order publishes a message.
func (w *world) order(n int) {
	w.shop.Publish(journal.Message{Topic: "orders", Key: strconv.Itoa(n), Value: []byte(strconv.Itoa(n))}, func(_ journal.Place, err error) {
		if err != nil {
			w.fail("ordering %d: %v", n, err)
		}
	})
}

// heard: every message was told once, in the order of its partition, or is a dead
// letter, or was left out.
func (w *world) heard() {
	letters := w.cluster.Letters("dead")
	for s := range uint32(simtest.TopicPartitions) {
		var want, lost []string
		for _, m := range w.cluster.Messages(journal.Source{Topic: "orders", Partition: s}) {
			switch n, _ := strconv.Atoi(string(m.Value)); {
			case broken(n):
				if !slices.ContainsFunc(letters, func(l journal.Message) bool { return bytes.Equal(l.Value, m.Value) }) {
					lost = append(lost, string(m.Value))
				}
			case !leftOut(n):
				want = append(want, string(m.Value))
			}
		}
		if got := strings.Fields(w.judge.Cell("s", ear(s), "notes")); !slices.Equal(got, want) {
			w.fail("P11: of partition %d these were heard: %v; these were sent: %v", s, got, want)
		}
		if len(lost) > 0 {
			w.fail("P11: no dead letters of %v", lost)
		}
	}
}

// ordering plays 20 orders on two processes, the other of which takes over.
func ordering(faults ...simtest.Fault) *scenario {
	return &scenario{hosts: []string{"s", "s"}, orders: 20, config: runtime.Config{SnapshotRecords: 2}, faults: faults}
}

// S2, S5: what can go wrong between reading messages and recording them.
func TestMessagesAreToldOnceWhateverHappensBetweenReadingAndRecording(t *testing.T) {
	for _, point := range []string{"append ingest", "source", "append step"} {
		for _, e := range []simtest.Effect{
			simtest.Crash, simtest.CrashAfter, simtest.Zombie, simtest.Evict, simtest.Pause, simtest.Copy, simtest.LoseAck, simtest.Fail, simtest.FailLate, simtest.Slow, simtest.Blind,
		} {
			for _, n := range []int{1, 2, 5} {
				for seed, d := range []time.Duration{time.Millisecond, 400 * time.Millisecond, 3 * time.Second} {
					play := ordering(once(e, 0, point, n, d), once(simtest.Evict, 1, "time", 700, 300*time.Millisecond))
					play.seed, play.spare = uint64(seed), true //nolint:gosec // small
					if play.run(t); t.Failed() {
						t.Fatalf("%s at the %d. %q", e, n, point)
					}
				}
			}
		}
	}
}
