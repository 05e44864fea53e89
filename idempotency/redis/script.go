package redis

import (
	"crypto/sha1" //nolint:gosec // the name that Redis gives to a script
	"encoding/hex"

	"github.com/backstay-go/backstay/idempotency"
)

// A key in Redis is one hash, so that a script has one key, and every cluster
// can run it:
//
//	h  the fingerprint (32 bytes) and the owner (16 bytes)
//	l  there while the work is in flight
//	a  the answer, if it was kept
//
// It expires with its lease, later with its retention: the time is that of
// Redis, and no clock of a client matters.
//
// Work is completed by taking l away, which needs no memory: a Redis that is
// full can still be told that work was done.

// headLen is the length of h.
const headLen = len(idempotency.Fingerprint{}) + len(idempotency.Token{})

// What scripts answer, alone or as the first of two.
const (
	corrupt    = 0 // the key holds something else
	started    = 1
	inFlight   = 2 // and what is left of the lease in ms
	completed  = 3 // and the answer, nil if it was not kept
	mismatched = 4

	lost = 0 // to an owner: the key is not yours
	done = 1
)

// begin takes the head and the lease in ms.
var begin = newScript("begin", `
local found = redis.call('HMGET', KEYS[1], 'h', 'l')
local head, lease = found[1], found[2]
if not head then
  if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
  redis.call('HSET', KEYS[1], 'h', ARGV[1], 'l', '')
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
if #head ~= 48 then return 0 end
if string.sub(head, 1, 32) ~= string.sub(ARGV[1], 1, 32) then return 4 end
if not lease then return {3, redis.call('HGET', KEYS[1], 'a')} end
if head ~= ARGV[1] then return {2, redis.call('PTTL', KEYS[1])} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// asOwner begins the scripts that take the owner first.
const asOwner = `
local found = redis.call('HMGET', KEYS[1], 'h', 'l')
local head, lease = found[1], found[2]
if not head or string.sub(head, 33) ~= ARGV[1] then return 0 end
`

// complete takes the owner, the retention in ms, and the answer if it is kept.
var complete = newScript("complete", asOwner+`
if not lease then return 1 end
if ARGV[3] then redis.call('HSET', KEYS[1], 'a', ARGV[3]) end
redis.call('HDEL', KEYS[1], 'l')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// renew takes the owner and the lease in ms.
var renew = newScript("renew", asOwner+`
if not lease then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)

// release takes the owner.
var release = newScript("release", asOwner+`
if not lease then return 0 end
redis.call('DEL', KEYS[1])
return 1
`)

// script is one of the above.
type script struct {
	name string // of the operation, in errors and events
	text string
	hash string
}

func newScript(name, text string) *script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return &script{name: name, text: text, hash: hex.EncodeToString(sum[:])}
}
