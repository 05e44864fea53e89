package httpmw

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

// settings are what a Transport makes of a Target beside its pipelines. They
// come into force together with these; see [Transport.now].
type settings struct {
	keys       *idempotency.Policy
	judgement  judgement
	headers    headers
	idempotent bool // whatever the method

	replayLimit int64
	idleBody    time.Duration
	drainLimit  int64
	drainTime   time.Duration
}

// newSettings returns the settings of a target that is valid.
func newSettings(target middleware.Target) (any, error) {
	s := &settings{
		idempotent:  target.Idempotent,
		headers:     newHeaders(target.Propagate),
		replayLimit: cmp.Or(target.HTTP.ReplayLimit, DefaultReplayLimit),
		idleBody:    target.HTTP.IdleBody,
		drainLimit:  cmp.Or(target.HTTP.DrainLimit, DefaultDrainLimit),
		drainTime:   cmp.Or(target.HTTP.DrainTime, DefaultDrainTime),
	}
	var err error
	if target.Idempotency != nil {
		s.keys, err = idempotency.New(*target.Idempotency)
	}
	s.judgement = judgement{keyHeader: s.keys.Header(), waitHeaders: target.HTTP.WaitHeaders}
	return s, err
}

// now returns the settings in force.
func (t *Transport) now() *settings {
	return t.pipelines.Settings().(*settings) //nolint:errcheck,forcetypeassert // they are of newSettings
}
