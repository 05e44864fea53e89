package redis

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
)

func TestPatience(t *testing.T) {
	const full, brief = time.Second, 100 * time.Millisecond
	var d doubt
	at := func(t time.Duration) backstay.Instant { return backstay.Instant(1).Add(t) }
	for _, step := range []struct {
		sentence string
		at       time.Duration
		do       func(backstay.Instant, time.Duration)
		want     time.Duration
	}{
		{"without doubt everybody waits", 0, nil, full},
		{"in doubt nobody does", 0, d.unanswered, brief},
		{"and still not a moment before the timeout has passed", full - 1, nil, brief},
		{"one does when it has", full, nil, full},
		{"and only one", full, nil, brief},
		{"another failure in between does not put off the next", full + full/2, d.unanswered, brief},
		{"which comes in time", 2 * full, nil, full},
		{"until there is an answer", 2 * full, func(backstay.Instant, time.Duration) { d.answered() }, full},
		{"and then everybody waits again", 2 * full, nil, full},
	} {
		if step.do != nil {
			step.do(at(step.at), full)
		}
		if got := d.patience(at(step.at), full); got != step.want {
			t.Errorf("%s: got %v, want %v", step.sentence, got, step.want)
		}
		if got, doubtful := d.haste(full), d.patient.Load() != 0; (got == brief) != doubtful {
			t.Errorf("%s: in haste %v", step.sentence, got)
		}
	}
}
