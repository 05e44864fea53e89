package deadline

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
)

// DefaultCap bounds incoming requests where IncomingConfig.Cap is zero.
const DefaultCap = time.Minute

// NoCap is the [IncomingConfig].Cap that sets no bound of our own.
const NoCap time.Duration = -1

// IncomingConfig is the data of an [Incoming]. The zero value is the default.
type IncomingConfig struct {
	// Cap bounds every request from its arrival on, whatever its caller says.
	// 0 means [DefaultCap]; [NoCap] means that only the caller's deadline and
	// the server's own count. The earliest wins.
	Cap time.Duration `json:"cap,omitempty" yaml:"cap,omitempty"`
	// Minimum is the least time in which a handler can succeed: a request that
	// has less left is refused before its handler runs. Default 0: any time
	// will do.
	Minimum time.Duration `json:"minimum,omitempty" yaml:"minimum,omitempty"`
	// Headers are those that are read, by the names of [CodecNames]. Default
	// x-backstay-timeout-ms alone. Of several that are present the one with
	// the least time counts.
	Headers []string `json:"headers,omitempty" yaml:"headers,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError].
func (c IncomingConfig) Validate() error {
	limit := c.withDefaults().Cap
	err := backstay.Check(
		backstay.Setting{
			Path: "cap", Value: c.Cap, Valid: c.Cap >= 0 || c.Cap == NoCap,
			Allowed: "must be positive, 0 for the default of 1m, or deadline.NoCap",
		},
		backstay.Setting{
			Path: "minimum", Value: c.Minimum, Valid: c.Minimum >= 0 && (limit == NoCap || c.Minimum <= limit),
			Allowed: "must not be negative, nor longer than cap",
		},
	)
	for i, name := range c.Headers {
		_, known := CodecNamed(name)
		err = errors.Join(err, backstay.Check(backstay.Setting{
			Path: fmt.Sprintf("headers[%d]", i), Value: name, Valid: known,
			Allowed: "must be one of " + strings.Join(CodecNames(), ", "),
		}))
	}
	return err
}

func (c IncomingConfig) withDefaults() IncomingConfig {
	c.Cap = cmp.Or(c.Cap, DefaultCap)
	if len(c.Headers) == 0 {
		c.Headers = []string{DefaultHeader}
	}
	return c
}

// Incoming is how a server takes up the deadlines of its callers, for
// [Extract]. It is immutable and safe for concurrent use; a nil *Incoming takes
// up nothing.
type Incoming struct {
	config IncomingConfig
	codecs []Codec
	scope  *backstay.Scope
}

// NewIncoming returns an Incoming, or every fault of the configuration. The
// codecs are read beside those that c names; scope, which may be nil, is told
// of refusals and of headers that were not usable.
func NewIncoming(c IncomingConfig, scope *backstay.Scope, codecs ...Codec) (*Incoming, error) {
	if err := c.Validate(); err != nil {
		return nil, backstay.Under("deadline", err)
	}
	in := &Incoming{config: c.withDefaults(), scope: scope}
	for _, name := range in.config.Headers {
		codec, _ := CodecNamed(name)
		in.codecs = append(in.codecs, codec)
	}
	in.codecs = append(in.codecs, codecs...)
	return in, nil
}
