package fallback_test

import (
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/fallback"
)

func TestWhatTheLadderAnswersFor(t *testing.T) {
	all := fallback.When(func(backstay.Outcome, error) bool { return true })
	none := fallback.When(func(backstay.Outcome, error) bool { return false })
	for name, c := range map[string]struct {
		class backstay.Class
		gone  bool
		when  fallback.Option
		want  bool
	}{
		"a transient failure":                            {class: backstay.Transient, want: true},
		"an overload":                                    {class: backstay.Overload, want: true},
		"a fault":                                        {class: backstay.Fault, want: true},
		"a refusal of our own":                           {class: backstay.Rejected, want: true},
		"not a success":                                  {class: backstay.Success},
		"not the caller's mistake":                       {class: backstay.Permanent},
		"not a cancelled call":                           {class: backstay.Canceled},
		"not a failure whose caller is gone":             {class: backstay.Transient, gone: true},
		"not a refusal whose caller is gone":             {class: backstay.Rejected, gone: true},
		"the caller's mistake if the predicate says so":  {class: backstay.Permanent, when: all, want: true},
		"not a failure if the predicate says so":         {class: backstay.Transient, when: none},
		"not a success whatever the predicate says":      {class: backstay.Success, when: all},
		"not a cancelled call whatever it says":          {class: backstay.Canceled, when: all},
		"not a caller that is gone whatever it says":     {class: backstay.Permanent, gone: true, when: all},
		"the default where the predicate is a nil one":   {class: backstay.Fault, when: fallback.When(nil), want: true},
		"not the caller's mistake where it is a nil one": {class: backstay.Permanent, when: fallback.When(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []fallback.Option
			if c.when != nil {
				opts = append(opts, c.when)
			}
			l := must[ask, *reply](t, fallback.Config{}, nil, opts...)
			if got := l.Applies(backstay.Outcome{Class: c.class}, errDown, c.gone); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestADrillIsTheShareOfRandomNumbersBelowIt(t *testing.T) {
	for _, c := range []struct {
		share, u float64
		want     bool
	}{
		{0, 0, false}, {0, 0.999, false},
		{0.25, 0, true}, {0.25, 0.2499, true}, {0.25, 0.25, false}, {0.25, 0.999, false},
		{1, 0, true}, {1, 0.9999999, true},
	} {
		if got := (fallback.Config{DrillShare: c.share}).Drills(c.u); got != c.want {
			t.Errorf("share %v, number %v: got %v", c.share, c.u, got)
		}
	}
}
