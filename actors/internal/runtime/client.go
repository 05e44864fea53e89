package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/idempotency"
)

// ClientCall is a request from outside.
type ClientCall struct {
	// Target is the actor; Index is set here.
	Target record.Address
	Method string
	Args   []byte
	// Key is the client's idempotency key: requests with one key, target and
	// method are one request, whoever sends them (A76). Empty: a new request.
	Key string
	// TTL bounds the start, in milliseconds from the append on; Deadline is the
	// same by this process's clock. 0: the deadline of ctx for Call and Read,
	// none for Tell. Negative: none.
	Deadline, TTL int64
	// NotBefore makes a tell wait, by the log's clock.
	NotBefore int64
	// Revocable makes a call without a key end with ctx (A70).
	Revocable bool
	Baggage   []byte
}

// Call makes a root call and waits for its result. It asks again, under the
// same id, until it is answered or ctx ends; then the request may still run.
func (n *Node) Call(ctx context.Context, r ClientCall) (record.Result, error) {
	c := n.clients.caller()
	if err := n.request(ctx, &r, true, &c.call); err != nil {
		return record.Result{}, err
	}
	c.call.Reply = n.address
	id, to := c.call.ID, partitionOf(c.call.Target)
	c.id, c.to = id, to
	result, err := n.ask(ctx, c)
	if err != nil && r.Revocable && ctx.Err() != nil {
		n.revoke(to, id)
	}
	return result, err
}

// Read makes a shared read: its value is never older than what was answered
// before it was sent (A82).
func (n *Node) Read(ctx context.Context, r ClientCall) (record.Result, error) {
	var m record.ClientRequest
	if err := n.request(ctx, &r, true, &m); err != nil {
		return record.Result{}, err
	}
	read := &record.Read{ID: newID(), Target: m.Target, Method: m.Method, Args: m.Args, Reply: n.address, Baggage: m.Baggage}
	if m.TTL > 0 {
		read.Deadline = n.clock.now() + m.TTL
	}
	return n.askFor(ctx, read)
}

// Tell makes a request that nobody waits for. It returns when the log has
// acknowledged it (A4).
func (n *Node) Tell(ctx context.Context, r ClientCall) error {
	m := new(record.ClientRequest)
	if err := n.request(ctx, &r, false, m); err != nil {
		return err
	}
	to := partitionOf(m.Target)
	for wait := n.config.Resend / 20; ; wait = min(2*wait, n.config.Resend) {
		m.Until = n.until()
		again, err := n.deliver(ctx, to, encode(m), m.Until)
		if !again {
			return err
		}
		if err := n.wait(ctx, wait); err != nil {
			return err
		}
	}
}

// deliver appends and waits for the acknowledgement. again means that another
// try may do better: a copy is void.
func (n *Node) deliver(ctx context.Context, to journal.Partition, data []byte, until int64) (again bool, err error) {
	type ack struct {
		journal.Place
		error
	}
	acked := make(chan ack, 1)
	n.log.Append(to, data, func(p journal.Place, err error) { acked <- ack{p, err} })
	late := time.NewTimer(n.config.Patience)
	defer late.Stop()
	select {
	case a := <-acked:
		if a.error != nil {
			return !final(a.error), a.error
		}
		n.clock.hear(a.At)
		return a.At > until, nil // the own clock was behind: by the log's it came too late
	case <-late.C:
		return true, nil
	case <-ctx.Done():
		return false, backstay.ContextError(ctx)
	case <-n.clients.gone:
		return false, ErrStopped
	}
}

// final reports whether an append will never do.
func final(err error) bool {
	return errors.Is(err, journal.ErrTooLarge) || errors.Is(err, journal.ErrNoType) || errors.Is(err, journal.ErrClosed)
}

func (n *Node) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return backstay.ContextError(ctx)
	case <-n.clients.gone:
		return ErrStopped
	}
}

// askFor asks what a read asks.
func (n *Node) askFor(ctx context.Context, r *record.Read) (record.Result, error) {
	c := n.clients.caller()
	c.id, c.to, c.read = r.ID, partitionOf(r.Target), r
	return n.ask(ctx, c)
}

// request fills in a root request, without reply and until.
func (n *Node) request(ctx context.Context, r *ClientCall, bounded bool, m *record.ClientRequest) error {
	if n.clients.refused() {
		return ErrStopped
	}
	if err := backstay.ContextError(ctx); err != nil {
		return err
	}
	count, err := n.count(ctx, r.Target.Type)
	if err != nil {
		return err
	}
	*m = record.ClientRequest{
		Target: record.To(r.Target.Type, r.Target.Actor, count), Method: r.Method, Args: r.Args,
		NotBefore: r.NotBefore, Baggage: r.Baggage, Deadline: max(r.Deadline, 0), TTL: max(r.TTL, 0),
	}
	if size := len(m.Args) + len(m.Baggage) + len(m.Method) + len(m.Target.Actor); size > n.config.MaxRecord {
		return fmt.Errorf("%w: %d bytes for %s, more than %d", ErrTooLarge, size, r.Target.Type, n.config.MaxRecord)
	}
	if at, ok := ctx.Deadline(); ok && bounded && r.TTL == 0 && r.Deadline == 0 {
		m.TTL = max(time.Until(at).Milliseconds(), 1)
		m.Deadline = time.Now().UnixMilli() + m.TTL
	}
	if m.ID = newID(); r.Key != "" {
		m.ID = keyedID(r)
		m.Key = idempotency.Derive(r.Key, "actors root", r.Target.Type, r.Target.Actor, r.Method) // two clients may choose the same
	}
	return nil
}

// until is when a request that is sent now is void if it has not been accepted:
// no later than the window from now (H22).
func (n *Node) until() int64 { return n.clock.now() + n.config.Window.Milliseconds() }

func partitionOf(a record.Address) journal.Partition {
	return journal.Partition{Type: a.Type, Index: a.Index}
}

// newID is random: from the runtime's generator, which is seeded by the system
// and costs no call of it.
func newID() record.ID {
	var id record.ID
	binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	return id
}

// keyedID is the id of a request with an idempotency key: the same whoever
// sends it, and another for every actor and method.
func keyedID(r *ClientCall) record.ID {
	h := sha256.New()
	for _, word := range []string{"backstay/actors/root/1", r.Target.Type, r.Target.Actor, r.Method, r.Key} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(word)))
		h.Write(length[:])
		h.Write([]byte(word))
	}
	return record.ID(h.Sum(nil)[:16])
}

// jitter is d, give or take a tenth.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(rand.Int64N(int64(d)/5+1))
}
