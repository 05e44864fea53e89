package runtime_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// What nobody owned for long may hold little else than what has expired: it ends
// together, wherever it waits, and each of it is told, however that is taken.
func TestABacklogThatExpiredBeforeItsOwnerCameEndsInOneRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		client := c.open()
		const backlog, actors = 30, 3
		for i := range backlog {
			target := actor("t", strconv.Itoa(i%actors))
			if err := client.Tell(t.Context(), runtime.ClientCall{Target: target, Method: "inc", TTL: 5}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range actors {
			c.tell(client, strconv.Itoa(i), "inc", "")
		}
		time.Sleep(time.Second)
		var told []record.ID // by goroutines of which each waits for the one before
		n := c.openWith(runtime.Config{Observe: func(e runtime.Event) {
			if e.Kind == runtime.RequestGivenUp && e.Code == runtime.CodeExpired {
				told = append(told, e.ID)
				panic("the observer's own fault")
			}
		}}, hosting(counter()))
		synctest.Wait()
		if len(told) != backlog {
			t.Errorf("%d were told of %d", len(told), backlog)
		}
		for i := range actors {
			if v := c.call(n, strconv.Itoa(i), "inc", ""); v != "2" {
				t.Errorf("actor %d was at %s, and not at the one that does not expire and this", i, v)
			}
		}
		expired := 0
		for _, r := range c.records() {
			if x, is := r.(*record.Expired); is {
				expired++
				if len(x.Links) != backlog {
					t.Errorf("a record ends %d of %d", len(x.Links), backlog)
				}
			}
		}
		if expired != 1 {
			t.Errorf("%d records", expired)
		}
	})
}

// records are those of the only partition of type "t".
func (c *cluster) records() (all []record.Record) {
	c.Helper()
	r, err := c.log.Read(partition{Type: "t"}, 0, func() {})
	if err != nil {
		c.Fatal(err)
	}
	defer r.Close()
	entries, err := r.Poll(1 << 30)
	if err != nil {
		c.Fatal(err)
	}
	for _, e := range entries {
		x, err := record.Decode(e.Data)
		if err != nil {
			c.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}
