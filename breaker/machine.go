package breaker

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// machine is the ruler of one opening: a gobreaker that is made open, becomes
// half-open by itself, and is dropped at its next change of state, since its
// timeout is fixed and the next opening may last longer. It is not safe for
// concurrent use.
//
// What gobreaker v2.4 asks of whoever uses it this way:
//   - its listener runs under its lock: ours only notes the state;
//   - State may change the state: the listener's note is read instead;
//   - it is still open at the very instant its timeout ends, hence one
//     nanosecond less; and a timeout of 0 means a minute, hence the minimum
//     that Config demands;
//   - a place that is not given back is lost for ever, and one given back twice
//     counts twice: see probe.
type machine struct {
	ruler *gobreaker.TwoStepCircuitBreaker[struct{}]
	state gobreaker.State
}

// What a probe reports to the machine, beside nil for a success.
var (
	errFailed  = errors.New("failed")
	errNeutral = errors.New("neutral")
)

// newMachine returns a machine that stays open for d from now on.
func newMachine(d time.Duration, probes int) *machine {
	m := new(machine)
	m.ruler = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:   uint32(probes),
		Timeout:       d - 1,
		ReadyToTrip:   func(gobreaker.Counts) bool { return true },
		IsExcluded:    func(err error) bool { return err == errNeutral }, //nolint:errorlint // our own, never wrapped
		OnStateChange: func(_ string, _, to gobreaker.State) { m.state = to },
	})
	done, _ := m.ruler.Allow() // a new machine is closed
	done(errFailed)
	return m
}

// ask asks for a probe's place. report gives it back; it must be called once.
func (m *machine) ask() (report func(error), ok bool) {
	report, err := m.ruler.Allow()
	return report, err == nil
}

func (m *machine) closed() bool   { return m.state == gobreaker.StateClosed }
func (m *machine) reopened() bool { return m.state == gobreaker.StateOpen }
