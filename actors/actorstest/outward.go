package actorstest

import (
	"errors"
	"fmt"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

func answers(r *rig) {
	type heard struct{ at, text string }
	all := make(chan heard, 10)
	var addresses []string
	for _, name := range []string{"a", "b"} {
		address, closing, err := r.Listen(r.Context(), func(data []byte) { all <- heard{name, string(data)} })
		if err != nil {
			r.Fatal(err)
		}
		r.Cleanup(closing)
		addresses = append(addresses, address)
	}
	if addresses[0] == addresses[1] || addresses[0] == "" {
		r.Fatalf("addresses %q", addresses)
	}
	for i, name := range []string{"a", "b"} {
		r.Answer(addresses[i], []byte("to "+name))
		select {
		case h := <-all:
			if h.at != name || h.text != "to "+name {
				r.Errorf("%s heard %q", h.at, h.text)
			}
		case <-time.After(patience):
			r.Fatal("an answer did not come")
		}
	}
}

func answersToNobody(r *rig) {
	address, closing, err := r.Listen(r.Context(), func([]byte) { r.Error("an answer came after closing") })
	if err != nil {
		r.Fatal(err)
	}
	closing()
	r.Answer(address, []byte("x"))
	r.Answer("nowhere", []byte("x"))
	r.Answer("", []byte("x"))
	time.Sleep(10 * time.Millisecond)
}

func publishing(r *rig) {
	for i := range 20 {
		acked := make(chan ack, 1)
		r.Publish(journal.Message{
			Topic: LogTopic, Key: "key", Value: fmt.Appendf(nil, "%d", i),
			Headers: []journal.Header{{Name: "header", Value: []byte("value")}},
		}, func(at journal.Place, err error) { acked <- ack{at, err} })
		if a := r.await(acked); a.err != nil {
			r.Fatal(a.err)
		}
	}
}

func closing(r *rig) {
	r.add(r.p, "a")
	outstanding := r.post(r.p, "b")
	if err := r.Close(); err != nil {
		r.Fatal(err)
	}
	if a := r.await(outstanding); a.err != nil && !errors.Is(a.err, journal.ErrClosed) {
		r.Errorf("what was outstanding: %v", a.err)
	}
	if a := r.await(r.post(r.p, "c")); !errors.Is(a.err, journal.ErrClosed) {
		r.Errorf("an append after Close: %v, want ErrClosed", a.err)
	}
}
