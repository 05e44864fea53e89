package idempotencytest

import (
	"crypto/rand"
	"strings"

	"github.com/backstay-go/backstay/idempotency"
)

// everyByte contains each of the 256 bytes.
func everyByte() string {
	var all strings.Builder
	for c := range 256 {
		all.WriteByte(byte(c))
	}
	return all.String()
}

// random is an answer that cannot be compressed, of the largest size that a
// guard keeps by default.
func random() string {
	data := make([]byte, 256<<10)
	_, _ = rand.Read(data)
	return string(data)
}

var records = []testCase{
	{"an answer is replayed byte for byte, again and again", func(b *bench) {
		for _, answer := range []string{"", "a", "\x00", "\r\n", "\xff\xfe", everyByte(), random()} {
			c := b.completed(answer, long)
			b.replays(c.Key, answer)
			b.replays(c.Key, answer)
		}
	}},
	{"an answer that was omitted is told as such", func(b *bench) {
		c := b.started(long)
		if err := b.store.Complete(b.Context(), c, idempotency.Record{Omitted: true}, long); err != nil {
			b.Fatal(err)
		}
		got := b.begin(owner(c.Key), printA, long, idempotency.Completed)
		if !got.Record.Omitted || len(got.Record.Answer) != 0 {
			b.Errorf("got %+v, want a record that is omitted and empty", got.Record)
		}
		b.begin(owner(c.Key), printB, long, idempotency.Mismatched)
	}},
	{"to complete again is harmless", func(b *bench) {
		c := b.completed("the first", long)
		b.complete(c, "the second", long) // the reply to the first was lost
		b.replays(c.Key, "the first")
	}},
	{"to complete again does not prolong the retention", func(b *bench) {
		c := b.completed("answer", b.Lease)
		b.complete(c, "answer", long)
		b.passes(b.Lease)
		b.isFree(c.Key)
	}},
	{"the owner who begins after completing gets the answer", func(b *bench) {
		c := b.completed("answer", long)
		got := b.begin(c, printA, long, idempotency.Completed)
		if string(got.Record.Answer) != "answer" {
			b.Errorf("got %q", got.Record.Answer)
		}
	}},
	{"the store keeps no slice that it was given", func(b *bench) {
		c := b.started(long)
		buffer := []byte("answer")
		if err := b.store.Complete(b.Context(), c, idempotency.Record{Answer: buffer}, long); err != nil {
			b.Fatal(err)
		}
		copy(buffer, "XXXXXX")
		b.replays(c.Key, "answer")
	}},
	{"the store keeps no slice that it gave away", func(b *bench) {
		c := b.completed("answer", long)
		got := b.begin(owner(c.Key), printA, long, idempotency.Completed)
		copy(got.Record.Answer, "XXXXXX")
		b.replays(c.Key, "answer")
	}},
}
