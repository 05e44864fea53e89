package bulkhead_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func TestValidateNamesTheFieldThatIsWrong(t *testing.T) {
	type config = bulkhead.Config
	for name, c := range map[string]struct {
		config config
		want   []string
	}{
		"the zero value is valid":            {config{}, nil},
		"unlimited is valid":                 {config{Limit: bulkhead.Unlimited}, nil},
		"an ordinary queue is valid":         {config{Limit: 8, MaxQueue: 100, MaxWait: time.Second}, nil},
		"every part by its defaults":         {config{Adaptive: &bulkhead.AdaptiveConfig{}, Priorities: &bulkhead.PriorityConfig{}, Rate: &bulkhead.RateConfig{PerSecond: 1}}, nil},
		"a negative limit":                   {config{Limit: -2}, []string{"limit"}},
		"an absurd limit":                    {config{Limit: math.MaxInt64}, []string{"limit"}},
		"a negative queue":                   {config{MaxQueue: -1}, []string{"max_queue"}},
		"an absurd queue":                    {config{MaxQueue: math.MaxInt}, []string{"max_queue"}},
		"a negative wait":                    {config{MaxQueue: 1, MaxWait: -1}, []string{"max_wait"}},
		"an absurd wait":                     {config{MaxQueue: 1, MaxWait: math.MaxInt64}, []string{"max_wait"}},
		"a wait without a queue":             {config{MaxWait: time.Second}, []string{"max_wait"}},
		"a share above one":                  {config{Priorities: &bulkhead.PriorityConfig{DefaultShare: 1.1}}, []string{"priorities.default_share"}},
		"a negative share":                   {config{Priorities: &bulkhead.PriorityConfig{SheddableShare: -0.1}}, []string{"priorities.sheddable_share"}},
		"a share that is no number":          {config{Priorities: &bulkhead.PriorityConfig{SheddableShare: math.NaN()}}, []string{"priorities.sheddable_share"}},
		"sheddable calls above the default":  {config{Priorities: &bulkhead.PriorityConfig{DefaultShare: 0.5, SheddableShare: 0.6}}, []string{"priorities.sheddable_share"}},
		"a default below sheddable's":        {config{Priorities: &bulkhead.PriorityConfig{DefaultShare: 0.5}}, nil},
		"no rate in a rate":                  {config{Rate: &bulkhead.RateConfig{}}, []string{"rate.per_second"}},
		"an infinite rate":                   {config{Rate: &bulkhead.RateConfig{PerSecond: math.Inf(1)}}, []string{"rate.per_second"}},
		"a rate that is no number":           {config{Rate: &bulkhead.RateConfig{PerSecond: math.NaN()}}, []string{"rate.per_second"}},
		"a negative burst":                   {config{Rate: &bulkhead.RateConfig{PerSecond: 1, Burst: -1}}, []string{"rate.burst"}},
		"an unknown algorithm":               {config{Adaptive: &bulkhead.AdaptiveConfig{Algorithm: "vegas"}}, []string{"adaptive.algorithm"}},
		"a floor below one":                  {config{Adaptive: &bulkhead.AdaptiveConfig{Min: -1}}, []string{"adaptive.min"}},
		"a ceiling below the floor":          {config{Adaptive: &bulkhead.AdaptiveConfig{Min: 10, Max: 5}}, []string{"adaptive.max"}},
		"a start below the floor":            {config{Limit: 2, Adaptive: &bulkhead.AdaptiveConfig{}}, []string{"limit"}},
		"an adaptive limit that is no limit": {config{Limit: bulkhead.Unlimited, Adaptive: &bulkhead.AdaptiveConfig{}}, []string{"limit"}},
		"a window of no time":                {config{Adaptive: &bulkhead.AdaptiveConfig{Window: 1}}, []string{"adaptive.window"}},
		"a tolerance below one":              {config{Adaptive: &bulkhead.AdaptiveConfig{Tolerance: 0.9}}, []string{"adaptive.tolerance"}},
		"a tolerance that is no number":      {config{Adaptive: &bulkhead.AdaptiveConfig{Tolerance: math.NaN()}}, []string{"adaptive.tolerance"}},
		"constant remeasuring":               {config{Adaptive: &bulkhead.AdaptiveConfig{Remeasure: 1}}, []string{"adaptive.remeasure"}},
		"a decrease that increases":          {config{Adaptive: &bulkhead.AdaptiveConfig{Decrease: 1}}, []string{"adaptive.decrease"}},
		"everything at once": {
			config{Limit: -7, MaxQueue: -1, Rate: &bulkhead.RateConfig{Burst: -1}, Adaptive: &bulkhead.AdaptiveConfig{Decrease: 2}},
			[]string{"limit", "max_queue", "limit", "adaptive.decrease", "rate.per_second", "rate.burst"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := paths(c.config.Validate()); !slices.Equal(got, c.want) {
				t.Errorf("faults at %q, want %q", got, c.want)
			}
			_, err := bulkhead.New(c.config)
			if (err != nil) != (c.want != nil) {
				t.Errorf("New says %v", err)
			}
		})
	}
}

func TestNewPutsThePackageInFrontOfThePath(t *testing.T) {
	_, err := bulkhead.New(bulkhead.Config{MaxQueue: -1})
	if got := paths(err); !slices.Equal(got, []string{"bulkhead.max_queue"}) {
		t.Errorf("faults at %q", got)
	}
}

func TestConfigIsWrittenInSnakeCase(t *testing.T) {
	const text = `{"limit":8,"max_queue":3,"max_wait":5,"hold_body":true,"weighted":true,` +
		`"priorities":{"default_share":0.8,"sheddable_share":0.3},` +
		`"adaptive":{"algorithm":"aimd","min":1,"max":9,"window":1000000,"tolerance":2,"remeasure":1000000000,"decrease":0.5},` +
		`"rate":{"per_second":10,"burst":2}}`
	var c bulkhead.Config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := string(must(json.Marshal(c))); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
}

func TestAnAdaptiveLimitStartsBetweenFloorAndCeiling(t *testing.T) {
	for _, c := range []struct{ limit, low, high, want int64 }{
		{0, 0, 0, 64}, {0, 100, 0, 100}, {0, 0, 32, 32}, {20, 0, 0, 20},
	} {
		b := must(bulkhead.New(bulkhead.Config{Limit: c.limit, Adaptive: &bulkhead.AdaptiveConfig{Min: c.low, Max: c.high}}))
		if got := b.Limit(); got != c.want {
			t.Errorf("limit %d between %d and %d starts from %d, want %d", c.limit, c.low, c.high, got, c.want)
		}
	}
}

// paths returns the paths of all faults in err.
func paths(err error) []string {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, paths(e)...)
		}
		return all
	}
	fault, ok := errors.AsType[*backstay.FieldError](err)
	if !ok {
		return []string{"not a FieldError: " + err.Error()}
	}
	return []string{fault.Path}
}
