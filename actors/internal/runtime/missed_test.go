package runtime_test

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// A read is in the log, but nothing says that it was answered: who takes over
// answers it, rather than let its client ask again.
func TestAReadThatFoundNoOwnerIsAnsweredByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		typ := hosting(counter())
		var ran atomic.Int64
		typ.Methods["peek"] = runtime.Method{Read: func(context.Context, *runtime.Reading) record.Result {
			ran.Add(1)
			return record.Result{Value: []byte("seen")}
		}}
		dead := new(link)
		n := c.openOn(dead, runtime.Config{}, typ)
		client := c.open()
		c.call(client, "a", "inc", "")
		dead.crash()
		kill(n)
		var reads sync.WaitGroup
		start := time.Now()
		const many = 1200 // more than are kept
		late := 0
		var mu sync.Mutex
		for i := range many {
			reads.Go(func() {
				v, err := result(client.Read(t.Context(), runtime.ClientCall{Target: actor("t", strconv.Itoa(i)), Method: "peek"}))
				if err != nil || v != "seen" {
					t.Errorf("read %q, %v", v, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if time.Since(start) > 500*time.Millisecond {
					late++
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		next := new(link)
		n = c.openOn(next, runtime.Config{}, typ)
		reads.Wait()
		if late != many-1024 || ran.Load() != many {
			t.Errorf("%d of %d reads waited for their clients to ask again; %d were run", late, many, ran.Load())
		}
		time.Sleep(time.Minute)
		next.crash()
		kill(n)
		c.open(typ)
		time.Sleep(time.Second)
		if n := ran.Load() - many; n != 0 {
			t.Errorf("%d reads of a minute ago were answered again", n)
		}
	})
}

// A step is on record, and its owner dies before the client has the answer: who
// takes over sends it, rather than let the client ask again.
func TestAnAnswerThatWasNotSentIsSentByTheNextOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		mute := new(link)
		n := c.openOn(mute, runtime.Config{}, hosting(counter()))
		client := c.open()
		c.call(client, "a", "inc", "")
		mute.mu.Lock()
		mute.mute = true
		mute.mu.Unlock()
		answered := make(chan time.Duration)
		start := time.Now()
		go func() {
			if v := c.call(client, "a", "inc", ""); v != "2" {
				t.Errorf("the answer is %q", v)
			}
			answered <- time.Since(start)
		}()
		time.Sleep(300 * time.Millisecond)
		mute.crash()
		kill(n)
		c.open(hosting(counter()))
		if took := <-answered; took > 500*time.Millisecond {
			t.Errorf("it came after %v", took)
		}
	})
}

// What an owner before has answered may be of a life of the request that is over:
// its client has come back after the window, with a new request under the old id.
// It gets the answer of that, never the old one.
func TestAnAnswerOfAnEarlierLifeIsNotSentByTheNextOwner(t *testing.T) {
	for _, again := range []bool{false, true} { // whether the second life has ended
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 1)
			defer c.stop()
			heard := make(chan string, 10)
			address, closing, err := c.log.Listen(t.Context(), func(data []byte) {
				for _, word := range []string{"first", "second", "third"} {
					if bytes.Contains(data, []byte(word)) {
						heard <- word
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer closing()
			const window = time.Second
			add := func(r record.Record) {
				acked := make(chan error, 1)
				c.log.Append(journal.Partition{Type: "t"}, record.Encode(r), func(_ journal.Place, err error) { acked <- err })
				if err := <-acked; err != nil {
					t.Fatal(err)
				}
			}
			live := func() record.Link {
				r := &record.ClientRequest{ID: record.ID{1}, Until: time.Now().Add(window).UnixMilli(), Target: record.To("t", "a", 1), Method: "third", Reply: address}
				add(r)
				return record.Link{ID: r.ID, Life: r.Until}
			}
			end := func(l record.Link, answer string) {
				add(&record.Step{Epoch: 1, Link: l, Result: record.Result{Value: []byte(answer)}})
			}
			add(&record.Takeover{Epoch: 1, Nonce: record.ID{1}, Partitions: 1, Window: window.Milliseconds()})
			end(live(), "first")
			time.Sleep(2*window + 10*time.Millisecond)
			second, want := live(), "third"
			if again {
				end(second, "second")
				want = "second"
			}
			c.openWith(runtime.Config{Window: window}, hosting(map[string]run{"third": func(context.Context, *runtime.Attempt) runtime.End { return value("third") }}))
			time.Sleep(time.Second)
			synctest.Wait()
			close(heard)
			told := 0
			for word := range heard {
				if told++; word != want {
					t.Errorf("the client is told %q, want %q", word, want)
				}
			}
			if told == 0 {
				t.Error("the client is told nothing")
			}
		})
	}
}
