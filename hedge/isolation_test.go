package hedge_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

// message is a request with a body that is read once and a reply that the
// callee fills, as HTTP and gRPC have them.
type message struct {
	body  io.Reader
	reply *bytes.Buffer
}

// post is an Exchange of messages that rewinds the body of each copy.
type post struct {
	backstay.Exchange[message, *bytes.Buffer]
	body []byte
	mark bool // whether the request carries a mark
}

func (x *post) Fork(message, int) (message, error) {
	return message{bytes.NewReader(x.body), new(bytes.Buffer)}, nil
}

func (x *post) Hedge(message) error {
	if x.mark {
		return nil
	}
	return io.ErrNoProgress
}

func (x *post) Classify(_ *bytes.Buffer, err error) backstay.Outcome { return backstay.Classify(err) }
func (x *post) Discard(*bytes.Buffer)                                {}
func (x *post) Bind(r *bytes.Buffer, c backstay.Canceler) *bytes.Buffer {
	c.Cancel()
	return r
}

// echo copies the body to the reply, in pieces, and is slow to begin with.
func echo(began time.Duration, m message) (*bytes.Buffer, error) {
	time.Sleep(began)
	for {
		if _, err := io.CopyN(m.reply, m.body, 1024); errors.Is(err, io.EOF) {
			return m.reply, nil
		}
		time.Sleep(ms)
	}
}

// Acceptance case C37.
func TestC37_EveryCopyOfAMarkedRequestHasTheWholeBody(t *testing.T) {
	body := bytes.Repeat([]byte("backstay"), 1024)
	for _, marked := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := must(t, hedge.Config{Delay: delay})
			x := &post{body: body, mark: marked}
			var mu sync.Mutex
			var got [][]byte
			r, err := hedge.Run(t.Context(), p, x, message{bytes.NewReader(body), new(bytes.Buffer)},
				func(_ context.Context, m message) (*bytes.Buffer, error) {
					r, err := echo(delay+4*ms, m) // both copy at once for a while
					mu.Lock()
					defer mu.Unlock()
					got = append(got, bytes.Clone(r.Bytes()))
					return r, err
				})
			if err != nil || !bytes.Equal(r.Bytes(), body) {
				t.Errorf("the caller has %d bytes, %v", r.Len(), err)
			}
			closed(t, p)
			want := 1
			if marked {
				want = 2
			}
			if len(got) != want {
				t.Errorf("%d copies, want %d", len(got), want)
			}
			for i, b := range got {
				if !bytes.Equal(b, body) {
					t.Errorf("copy %d had %d bytes of %d", i+1, len(b), len(body))
				}
			}
		})
	}
}

// Acceptance case C40.
func TestC40_ALoserThatEndsAfterTheWinnerNeverChangesTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, hedge.Config{Delay: delay})
		x := &post{body: []byte("x"), mark: true}
		r, err := hedge.Run(t.Context(), p, x, message{}, func(ctx context.Context, m message) (*bytes.Buffer, error) {
			if hedge.Copy(ctx) == 1 {
				m.reply.WriteString("first")
				return m.reply, sleep(ctx, 30*ms)
			}
			time.Sleep(time.Minute) // deaf
			m.reply.WriteString("second")
			return m.reply, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		closed(t, p)
		if r.String() != "first" {
			t.Errorf("the reply is now %q", r)
		}
	})
}
