package grpcmw

import (
	"errors"
	"strconv"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/internal/wire"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/timeout"
)

// settings are what a Client makes of a Target beside its pipelines. They come
// into force together with these; see [Client.now].
type settings struct {
	keys       *idempotency.Policy
	keyHeader  string                 // in the lower case of metadata
	told       middleware.Propagation // who is told the number of the attempt
	opens      *timeout.Policy        // bounds the opening of streams; nil: nothing does
	idempotent bool                   // whatever the method
	retries    bool                   // the target has retries of its own
}

// newSettings returns the settings of a target that is valid.
func newSettings(target middleware.Target) (any, error) {
	s := &settings{
		told:       target.Propagate,
		idempotent: target.Idempotent,
		retries:    target.Retry != nil,
	}
	var faults, more error
	if target.Idempotency != nil {
		s.keys, faults = idempotency.New(*target.Idempotency)
	}
	if target.Timeout != nil {
		s.opens, more = timeout.New(*target.Timeout)
	}
	s.keyHeader = strings.ToLower(s.keys.Header())
	return s, errors.Join(faults, more, backstay.Check(backstay.Setting{
		Path: "idempotency.header", Value: strconv.Quote(s.keys.Header()), Valid: wire.IsFieldName(s.keyHeader),
		Allowed: wire.FieldNames,
	}))
}

// now returns the settings in force.
func (c *Client) now() *settings {
	return c.pipelines.Settings().(*settings) //nolint:errcheck,forcetypeassert // they are of newSettings
}
