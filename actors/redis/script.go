package redis

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name that Redis gives to a script
	"encoding/hex"

	goredis "github.com/redis/go-redis/v9"
)

// The keys of a partition have one hash tag. They are
//
//	{type/index}          a hash: begun, the highest offset as of which rows may
//	                      have been changed; saved, that of the last whole save
//	{type/index}!         a sorted set of the actors that have rows
//	{type/index}:actor    a hash: the cells by name; under no name, the offset
//
// An offset has at most 53 bits, which Lua's numbers hold.

// save takes the offset, the offset that must have been saved before, 1 if this
// is the last part of a save, and for each row: its actor, 1 if it is cleared,
// the number of its cells with their names and values, and the number of those
// to remove with their names. It answers 0 if it is too late, and -1 if Redis
// has lost something.
var save = newScript(`
local at = tonumber(ARGV[1])
local marks = redis.call('HMGET', KEYS[1], 'begun', 'saved')
if tonumber(marks[2] or '0') < tonumber(ARGV[2]) then return -1 end
if at < tonumber(marks[1] or '0') then return 0 end
redis.call('HSET', KEYS[1], 'begun', ARGV[1])
local n = 4
for k = 3, #KEYS do
  local row, actor = KEYS[k], ARGV[n]
  if ARGV[n + 1] == '1' then redis.call('DEL', row) end
  local last = n + 2 + 2 * tonumber(ARGV[n + 2])
  if last > n + 2 then redis.call('HSET', row, unpack(ARGV, n + 3, last)) end
  n = last + 1
  last = n + tonumber(ARGV[n])
  redis.call('HDEL', row, '', unpack(ARGV, n + 1, last))
  n = last + 1
  if redis.call('EXISTS', row) == 1 then
    redis.call('HSET', row, '', ARGV[1])
    redis.call('ZADD', KEYS[2], 0, actor)
  else redis.call('ZREM', KEYS[2], actor) end -- of if
end
if ARGV[3] == '1' then redis.call('HSET', KEYS[1], 'saved', ARGV[1]) end
return 1
`)

// load takes the offset that must have been saved, and answers the fields of
// the row, or -1 if Redis has lost something.
var load = newScript(`
local saved = redis.call('HGET', KEYS[1], 'saved')
if tonumber(saved or '0') < tonumber(ARGV[1]) then return -1 end
return redis.call('HGETALL', KEYS[2])
`)

// script is one of the above.
type script struct{ text, hash string }

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return &script{text: text, hash: hex.EncodeToString(sum[:])}
}

// run is one round trip, or two where Redis does not know the script yet.
func (s *script) run(ctx context.Context, c Client, keys []string, args ...any) (any, error) {
	reply, err := c.EvalSha(ctx, s.hash, keys, args...).Result()
	if goredis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = c.Eval(ctx, s.text, keys, args...).Result()
	}
	return reply, err
}
