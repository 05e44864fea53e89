package grpcmw

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
	"github.com/backstay-go/backstay/internal/drain"
	"github.com/backstay-go/backstay/middleware"
)

// Client sends RPCs through a pipeline of policies, one pipeline for each key:
// the endpoint of the connection, unless [WithKey] says otherwise. One Client
// may serve several connections. It is safe for concurrent use.
type Client struct {
	pipelines *middleware.Registry
	ladder    *fallback.Ladder[*Request, *Reply]
	key       func(*Request) string // nil: the endpoint
	passed    methods
	repeats   repetition
	retryable map[codes.Code]bool
	classify  func(*Reply, error, backstay.Outcome) backstay.Outcome // nil: no opinion
	exchange  *exchange
	send      backstay.Call[*Request, *Reply] // sendOnce, bound once
	inner     Inner
	openings  drain.Group

	firstAnswer  time.Duration // see [WithFirstAnswer]; 0: no limit
	readsHeaders bool          // also where the caller does not ask for them
}

// DialOptions returns what puts the Client under a connection: its two
// interceptors, outermost of those that are dialled with afterwards, and, if
// the target has retries, the end of grpc-go's own, so that a service config
// with a retryPolicy does not multiply them. (grpc-go still sends an RPC anew
// by itself that has not left the client, or that the server never looked at.)
//
//	conn, err := grpc.NewClient("dns:///stock:443", append(client.DialOptions(), credentials)...)
func (c *Client) DialOptions() []grpc.DialOption {
	options := []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(c.Unary),
		grpc.WithChainStreamInterceptor(c.Stream),
	}
	if c.now().retries {
		options = append(options, grpc.WithDisableRetry())
	}
	return options
}

// Close refuses further calls and waits for what the Client still owns: late
// copies, abandoned attempts, and streams that no server has answered yet; or
// until ctx ends. Streams that were answered live on. Close the connection
// first where streams may be silent.
func (c *Client) Close(ctx context.Context) error {
	return errors.Join(c.pipelines.Close(ctx), c.openings.Close(ctx), c.ladder.Close(ctx))
}

// Pipelines returns the registry of the Client's pipelines, for reports, for
// manual control, and to put another target in force: its Apply changes all that
// the Client does, but for its fallbacks and what [Client.DialOptions] said.
func (c *Client) Pipelines() *middleware.Registry { return c.pipelines }
