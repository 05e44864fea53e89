package deadline

import (
	"context"
	"time"
)

// Inject tells the receiver of c how long the caller still waits: what is left
// of the deadline of ctx, or limit (the timeout of one attempt) if that is
// less; limit 0 means none. It returns what it told; ok is false, and c is left
// as it is, where there is neither a deadline nor a limit. Call it at the
// moment of sending, since it reads the clock.
func Inject(ctx context.Context, c Carrier, codec Codec, limit time.Duration) (left time.Duration, ok bool) {
	end, bounded := ctx.Deadline()
	if !bounded && limit <= 0 {
		return 0, false
	}
	now := time.Now()
	left = limit
	if bounded {
		left = end.Sub(now)
		if limit > 0 {
			left = min(left, limit)
		}
	}
	c.Set(codec.Name(), codec.Encode(left, now))
	return left, true
}
