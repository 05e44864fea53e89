package deadline

import (
	"strings"
	"time"

	"github.com/backstay-go/backstay/internal/wire"
)

// DefaultHeader names the default codec, that of [BackstayTimeout].
const DefaultHeader = "x-backstay-timeout-ms"

// Codec is one way to write what is left of a deadline into a header. It is
// safe for concurrent use.
type Codec interface {
	// Name is the name of the header.
	Name() string
	// Encode writes what is left at now; zero or less where the deadline has
	// passed.
	Encode(left time.Duration, now time.Time) string
	// Decode reads what is left at now: zero or less where the deadline has
	// passed, the longest duration where it does not fit, an error where the
	// value is not usable.
	Decode(value string, now time.Time) (left time.Duration, err error)
}

// BackstayTimeout is the codec of x-backstay-timeout-ms: milliseconds, in one
// to ten digits, rounded down; 0 where the deadline has passed.
func BackstayTimeout() Codec { return &durations[0] }

// GRPCTimeout is the codec of grpc-timeout: one to eight digits and a unit,
// rounded up. It is for plain HTTP: gRPC itself carries its deadlines.
func GRPCTimeout() Codec { return &durations[1] }

// ConnectTimeout is the codec of connect-timeout-ms: milliseconds, in one to
// ten digits, rounded down.
func ConnectTimeout() Codec { return &durations[2] }

// EnvoyTimeout is the codec of x-envoy-expected-rq-timeout-ms: milliseconds. A
// zero means to Envoy that there is no timeout, so it is not usable as a
// deadline, and 1 is the least that is written.
func EnvoyTimeout() Codec { return &durations[3] }

// CodecNamed returns the codec of one of the headers that [CodecNames] lists,
// in whatever case.
func CodecNamed(header string) (Codec, bool) {
	for i := range durations {
		if strings.EqualFold(durations[i].name, header) {
			return &durations[i], true
		}
	}
	return nil, false
}

// CodecNames returns the headers that have a codec of their own, in lower case,
// the default first.
func CodecNames() []string {
	names := make([]string, len(durations))
	for i := range durations {
		names[i] = strings.ToLower(durations[i].name)
	}
	return names
}

// durations are the codecs that tell how long is left. They need no clock, and
// the time that a request spends on the wire is not counted.
var durations = [...]durationCodec{
	{wire.HeaderTimeoutMillis, wire.FormatMillis, wire.ParseMillis},
	{wire.HeaderGRPCTimeout, wire.FormatGRPCTimeout, wire.ParseGRPCTimeout},
	{wire.HeaderConnectTimeoutMillis, wire.FormatMillis, wire.ParseMillis},
	{wire.HeaderEnvoyTimeoutMillis, wire.FormatEnvoyMillis, wire.ParseEnvoyMillis},
}

type durationCodec struct {
	name   string
	format func(time.Duration) string
	parse  func(string) (time.Duration, error)
}

func (c *durationCodec) Name() string { return c.name }

func (c *durationCodec) Encode(left time.Duration, _ time.Time) string { return c.format(left) }

func (c *durationCodec) Decode(value string, _ time.Time) (time.Duration, error) {
	return c.parse(value)
}
