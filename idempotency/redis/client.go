package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay"
)

// Client is what a [Store] needs of a client of go-redis: every
// redis.UniversalClient is one, for a single server, Sentinel or a cluster,
// with TLS or without.
type Client interface {
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *goredis.Cmd
	Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd
}

// checkClient is the rule for clients. One that does not heed the deadline of
// its context could hang for as long as its own timeouts and tries allow.
func checkClient(c Client) backstay.Setting {
	if missing(c) {
		return backstay.Setting{Path: "client", Value: nil, Allowed: "must be given"}
	}
	return backstay.Setting{Path: "client", Value: "ContextTimeoutEnabled: false", Valid: heedsDeadlines(c),
		Allowed: "must be made with ContextTimeoutEnabled, or no operation is bounded in time"}
}

// missing reports whether there is no client: a nil pointer in an interface is
// the usual mistake.
func missing(c Client) bool {
	switch c := c.(type) {
	case nil:
		return true
	case *goredis.Client:
		return c == nil
	case *goredis.ClusterClient:
		return c == nil
	case *goredis.Ring:
		return c == nil
	default:
		return false
	}
}

// heedsDeadlines asks the clients of go-redis. Whoever brings a client of
// another type answers for it.
func heedsDeadlines(c Client) bool {
	switch c := c.(type) {
	case *goredis.Client:
		return c.Options().ContextTimeoutEnabled
	case *goredis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *goredis.Ring:
		return c.Options().ContextTimeoutEnabled
	default:
		return true
	}
}
