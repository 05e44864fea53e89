package grpcmw

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/retry"
)

// headerAttempt is the name of [wire.HeaderAttempt] in metadata.
var headerAttempt = strings.ToLower(wire.HeaderAttempt)

// withKey gives q its idempotency key: the one that its caller put into the
// outgoing metadata, the one in its context, or where the target says that it
// honours keys, a new one, which in keyed work follows from the key of the work.
// Keys are made for calls that need one to be repeated. The metadata of ctx
// stays as it is.
func (c *Client) withKey(ctx context.Context, q *Request) (context.Context, error) {
	s := c.now()
	if md, ok := metadata.FromOutgoingContext(ctx); ok && len(md[s.keyHeader]) > 0 {
		key, err := idempotency.ParseFields(md[s.keyHeader])
		if err != nil {
			return ctx, keyError(err)
		}
		q.keyed = true
		ctx, _ = idempotency.Ensure(idempotency.WithKey(ctx, key), s.keys)
		return ctx, nil
	}
	if idempotency.KeyFrom(ctx) == "" && (s.keys == nil || c.repeats.mayRepeat(q.Method)) {
		return ctx, nil
	}
	ctx, key := idempotency.Ensure(ctx, s.keys, c.pipelines.Scope().Policy, q.Method)
	if key == "" {
		return ctx, nil
	}
	if err := idempotency.CheckKey(key); err != nil {
		return ctx, keyError(err)
	}
	q.keyed = true
	return metadata.AppendToOutgoingContext(ctx, s.keyHeader, s.keys.Format(key)), nil
}

// keyError makes the refusal of an unusable key the caller's mistake.
func keyError(err error) error {
	if _, ok := err.(*idempotency.Error); ok { //nolint:errorlint // only asks whether it can stay as it is
		return err
	}
	return &idempotency.Error{Err: idempotency.ErrKeyInvalid, Cause: err}
}

// outgoing returns the context of one attempt: from the second one on, copies
// counted, the server is told how many came before.
func (c *Client) outgoing(ctx context.Context, q *Request) context.Context {
	attempt := retry.Attempt(ctx)
	previous := attempt - 1 + hedge.Copy(ctx) - 1
	if previous == 0 {
		return ctx
	}
	md, ok := metadata.FromOutgoingContext(ctx) // a copy
	if !ok {
		md = make(metadata.MD, 2)
	}
	md.Set(wire.HeaderGRPCPreviousTries, strconv.Itoa(previous))
	if attempt > 1 && c.now().told.Tells(q.Host()) {
		md.Set(headerAttempt, strconv.Itoa(attempt))
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// carrier makes metadata, whose names are in lower case, a deadline.Carrier and
// a wire.Getter.
type carrier metadata.MD

// Values returns all values under name.
func (c carrier) Values(name string) []string { return metadata.MD(c).Get(name) }

// Set puts value in the place of all values under name.
func (c carrier) Set(name, value string) { metadata.MD(c).Set(name, value) }
