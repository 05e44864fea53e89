package deadline

import (
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

// EpochMillis returns a codec that tells the deadline itself, in Unix
// milliseconds, in a header of the caller's choice. Between machines whose
// clocks differ it is off by the difference; skew is how far the sender's clock
// may be behind: a deadline counts as passed only once it is past by more.
// Values outside of the years 1973 to 5138 are not usable, which keeps seconds
// and microseconds from being taken for milliseconds.
func EpochMillis(header string, skew time.Duration) Codec {
	return &absoluteCodec{header, skew, wire.FormatEpochMillis, wire.ParseEpochMillis}
}

// RFC3339 is [EpochMillis] for points in time such as 2026-02-03T04:05:06.789Z.
func RFC3339(header string, skew time.Duration) Codec {
	return &absoluteCodec{header, skew, wire.FormatRFC3339, wire.ParseRFC3339}
}

type absoluteCodec struct {
	name   string
	skew   time.Duration
	format func(time.Time) string
	parse  func(string) (time.Time, error)
}

func (c *absoluteCodec) Name() string { return c.name }

func (c *absoluteCodec) Encode(left time.Duration, now time.Time) string {
	return c.format(now.Add(left))
}

func (c *absoluteCodec) Decode(value string, now time.Time) (time.Duration, error) {
	t, err := c.parse(value)
	if err != nil {
		return 0, err
	}
	return wire.Left(t, now, c.skew), nil
}
