package kafka

import (
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/actors/kafka/internal/direct"
)

func TestAnAddressTellsThePartitionAndTheProcess(t *testing.T) {
	at, ok := placeOf("3/6f1c0de5a2b94877-1")
	if !ok || at.partition != 3 || at.token != "6f1c0de5a2b94877-1" || at.peer() != "6f1c0de5a2b94877" || at.String() != "3/6f1c0de5a2b94877-1" {
		t.Errorf("%+v, %v", at, ok)
	}
	for _, nonsense := range []string{"", "3", "x/y", "/", "99999999999/x"} {
		if at, ok := placeOf(nonsense); ok {
			t.Errorf("%q is %+v", nonsense, at)
		}
	}
}

// What comes is a listener's own: the bytes of a fetch are used again.
func TestAnswersReachTheirListenerEitherWay(t *testing.T) {
	ls := newListeners()
	var got []string
	ls.byToken["a-1"] = func(data []byte) { got = append(got, string(data)) }
	ls.take([]message{{key: []byte("a-1"), value: []byte("topic")}, {key: []byte("b-1"), value: []byte("another's")}, {}})
	ls.accept(direct.Letter{To: "3/a-1", Data: []byte("direct")})
	for _, to := range []string{"", "x", "3/a-2", "3/"} {
		ls.accept(direct.Letter{To: to, Data: []byte("nobody's")})
	}
	if len(got) != 2 || got[0] != "topic" || got[1] != "direct" {
		t.Errorf("%q", got)
	}
}

// Answers may be lost; what is appended to the logs needs the room.
func TestAnswersAreDroppedWhereMuchWaitsToBeSent(t *testing.T) {
	producing(t, func(t *testing.T, b *brokers, p *producer) {
		l := &Log{config: Config{App: "bank", QueueBytes: 20_000}, appender: p}
		l.replies.partitions.Store(1)
		post(p, 4500)
		l.detour(direct.Letter{To: "0/a-1"})
		full, _ := p.waiting()
		post(p, 500)
		l.detour(direct.Letter{To: "0/a-1"})
		if n, _ := p.waiting(); full != 2 || n != 3 {
			t.Errorf("%d and then %d records wait", full, n)
		}
		for range 3 {
			b.answer(<-b.taken, nil)
		}
		synctest.Wait()
		p.close()
	})
}
