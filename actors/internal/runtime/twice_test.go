package runtime_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/journal"
)

// stammering is a log whose answers come twice, the second time much later, as
// where there are two ways for them.
type stammering struct{ journal.Log }

func (s stammering) Answer(address string, data []byte) {
	s.Log.Answer(address, data)
	time.AfterFunc(time.Second/2, func() { s.Log.Answer(address, data) })
}

func TestAnAnswerThatComesTwiceIsTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		defer c.stop()
		c.log = stammering{c.log}
		c.open(hosting(counter()))
		client := c.open()
		for i := range 20 {
			key := strconv.Itoa(i / 2) // every second call is a copy of the one before
			v, err := result(client.Call(t.Context(), runtime.ClientCall{Target: actor("t", "a"), Method: "inc", Key: key}))
			if want := strconv.Itoa(i/2 + 1); v != want || err != nil {
				t.Errorf("call %d: %q, %v; want %q", i, v, err, want)
			}
			time.Sleep(300 * time.Millisecond) // the second answer comes while another call waits, or nobody
		}
		time.Sleep(time.Second)
	})
}
