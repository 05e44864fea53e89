package grpcmw

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/middleware"
)

// Rung is one fallback for unary calls: see package fallback, whose
// For[*Request, *Reply] makes them, and [Answer], which is shorter.
type Rung = fallback.Rung[*Request, *Reply]

// Answer makes a fallback of a function that answers the calls of one full
// method, or, where method is empty, of every method whose request is a Q and
// whose reply is an R. Other calls pass on to the next rung. The reply of the
// caller is filled with a copy of what f returns, so that f may return the same
// message every time. name is that of the rung in reports and metrics.
func Answer[Q, R proto.Message](name, method string, f func(ctx context.Context, req Q, cause error) (R, error)) Rung {
	return Rung{Name: name, Answer: func(ctx context.Context, q *Request, cause error) (*Reply, error) {
		req, asked := q.Message.(Q)
		_, wanted := q.reply.(R)
		if !asked || !wanted || (method != "" && method != q.Method) {
			return nil, fmt.Errorf("grpcmw: not for %s", q.Method)
		}
		reply, err := f(ctx, req, cause)
		if err != nil {
			return nil, err
		}
		return &Reply{Message: reply}, nil
	}}
}

// StaleCache describes a fallback that answers with the last good reply to the
// same request, if that is a protobuf message. It is a net for bad days, not a
// cache: every call is sent as long as the backend answers. How long and how
// many replies are kept is set in the target's fallback section.
type StaleCache struct {
	// Key tells which calls share a reply. It must name everything that the
	// reply depends on: the method, the request, the tenant or user. "" keeps
	// a call out. There is no default.
	Key func(ctx context.Context, q *Request) string
	// Refresh sends a copy of the request once more in the background when a
	// stale reply was served, through the same policies, if the method may be
	// repeated.
	Refresh bool
}

// rung returns the rung that s describes for c.
func (s StaleCache) rung(c *Client) Rung {
	cache := fallback.Cache[*Request, *Reply, *Reply]{
		Key: s.Key,
		Save: func(_ context.Context, _ *Request, r *Reply, keep func(*Reply)) *Reply {
			if m, ok := r.Message.(proto.Message); ok {
				keep(&Reply{Message: proto.Clone(m), Header: r.Header.Copy(), Trailer: r.Trailer.Copy()})
			}
			return r
		},
		Load: func(_ context.Context, _ *Request, kept *Reply, _ time.Duration) (*Reply, error) {
			return &Reply{Message: kept.Message, Header: kept.Header.Copy(), Trailer: kept.Trailer.Copy()}, nil
		},
	}
	if s.Refresh {
		cache.Refresh = c.refresh
	}
	return cache.Rung()
}

// refresh sends q, a fork, through its pipeline again, without fallbacks.
func (c *Client) refresh(ctx context.Context, q *Request) (*Reply, error) {
	if q.borrowed {
		return nil, fmt.Errorf("grpcmw: %s is not refreshed: its request cannot be copied", q.Method)
	}
	began := backstay.Now()
	p := c.pipelines.Get(c.keyOf(ctx, q), began)
	return middleware.RunAt(ctx, began, p, nil, c.exchange, q, c.send)
}
