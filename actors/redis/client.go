package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"
)

// Client is what is needed of a client of go-redis: a *Client, a
// *ClusterClient, a *Ring of one server. It should be made with
// ContextTimeoutEnabled.
type Client interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *goredis.Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) *goredis.Cmd
	HGet(ctx context.Context, key, field string) *goredis.StringCmd
	ZRangeByLex(ctx context.Context, key string, by *goredis.ZRangeBy) *goredis.StringSliceCmd
}
