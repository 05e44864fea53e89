package retry_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/retry"
)

// faults returns the paths of the fields that err complains of.
func faults(err error) (paths []string) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		var f *backstay.FieldError
		if !errors.As(err, &f) {
			return []string{"not a FieldError: " + err.Error()}
		}
		return []string{f.Path}
	}
	for _, e := range joined.Unwrap() {
		paths = append(paths, faults(e)...)
	}
	return paths
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		config retry.Config
		faults []string
	}{
		"the zero value is valid":        {retry.Config{}, nil},
		"a single attempt is valid":      {retry.Config{MaxAttempts: 1}, nil},
		"waits can be switched off":      {retry.Config{Base: retry.NoWait, MaxServerWait: retry.NoWait}, nil},
		"the budget can be switched off": {retry.Config{Budget: retry.NoBudget}, nil},
		"the burst can be switched off":  {retry.Config{Budget: retry.BudgetConfig{Burst: retry.NoBurst}}, nil},
		"the largest settings are valid": {retry.Config{
			MaxAttempts: math.MaxInt, Base: math.MaxInt64, Cap: math.MaxInt64, Multiplier: math.MaxFloat64,
			MaxServerWait: math.MaxInt64, MinAttemptTime: math.MaxInt64,
			Budget: retry.BudgetConfig{Ratio: 1, Window: math.MaxInt64, Burst: 1_000_000},
		}, nil},
		"the smallest settings are valid": {retry.Config{
			MaxAttempts: 1, Base: 1, Cap: 1, Multiplier: 1, MaxServerWait: 1, MinAttemptTime: 1,
			Budget: retry.BudgetConfig{Ratio: 0.001, Window: time.Millisecond, Burst: 1},
		}, nil},
		"all faults are told at once": {retry.Config{
			MaxAttempts: -1, Base: -2, Cap: -1, Multiplier: 0.5, MaxServerWait: -2, MinAttemptTime: -1,
			Budget: retry.BudgetConfig{Ratio: 1.5, Window: 1, Burst: -2},
		}, []string{
			"max_attempts", "base", "cap", "multiplier", "max_server_wait", "min_attempt_time",
			"budget.ratio", "budget.window", "budget.burst",
		}},
		"a multiplier must be a number":          {retry.Config{Multiplier: math.NaN()}, []string{"multiplier"}},
		"a multiplier must be finite":            {retry.Config{Multiplier: math.Inf(1)}, []string{"multiplier"}},
		"a ratio must be a number":               {retry.Config{Budget: retry.BudgetConfig{Ratio: math.NaN()}}, []string{"budget.ratio"}},
		"a ratio must not be infinite":           {retry.Config{Budget: retry.BudgetConfig{Ratio: math.Inf(1)}}, []string{"budget.ratio"}},
		"a ratio must be countable":              {retry.Config{Budget: retry.BudgetConfig{Ratio: 0.0005}}, []string{"budget.ratio"}},
		"a burst has an end":                     {retry.Config{Budget: retry.BudgetConfig{Burst: 1_000_001}}, []string{"budget.burst"}},
		"waits cannot begin above the given cap": {retry.Config{Base: 3 * time.Second, Cap: time.Second}, []string{"base"}},
		"nor above the default cap":              {retry.Config{Base: 3 * time.Second}, []string{"base"}},
		"nor can a cap be below the first wait":  {retry.Config{Cap: time.Millisecond}, []string{"cap"}},
		"a budget that is off is checked too": {retry.Config{
			Budget: retry.BudgetConfig{Off: true, Ratio: 2},
		}, []string{"budget.ratio"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := faults(test.config.Validate()); !slices.Equal(got, test.faults) {
				t.Errorf("got %q, want %q", got, test.faults)
			}
			p, err := retry.New(test.config)
			if (err == nil) != (test.faults == nil) || (p != nil) != (test.faults == nil) {
				t.Errorf("New returned %v, %v", p, err)
			}
		})
	}
}

func TestNewPutsThePackageInFrontOfEveryPath(t *testing.T) {
	_, err := retry.New(retry.Config{Cap: -1, Budget: retry.BudgetConfig{Ratio: 2}})
	if got, want := faults(err), []string{"retry.cap", "retry.budget.ratio"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = retry.NewBudget(retry.BudgetConfig{Ratio: 2})
	if got, want := faults(err), []string{"budget.ratio"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAFaultOfBaseAndCapNamesTheOther(t *testing.T) {
	err := retry.Config{Base: 3 * time.Second}.Validate()
	if !strings.Contains(err.Error(), "base: 3s is not allowed: must be at most cap, which is 2s") {
		t.Error(err)
	}
	err = retry.Config{Cap: time.Millisecond}.Validate()
	if !strings.Contains(err.Error(), "cap: 1ms is not allowed: must be at least base, which is 100ms") {
		t.Error(err)
	}
}

func TestTheConfigInForceHasItsDefaultsFilledIn(t *testing.T) {
	want := retry.Config{
		MaxAttempts: 3, Base: 100 * time.Millisecond, Cap: 2 * time.Second, Multiplier: 2,
		MaxServerWait: 30 * time.Second, MinAttemptTime: 10 * time.Millisecond,
		Budget: retry.BudgetConfig{Ratio: 0.1, Window: 10 * time.Second, Burst: 3},
	}
	if got := policy(t, retry.Config{}).Config(); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestAConfigSurvivesJSON(t *testing.T) {
	tests := map[string]struct {
		config retry.Config
		text   string
	}{
		"the default is empty": {retry.Config{}, `{}`},
		"names are snake case": {retry.Config{
			MaxAttempts: 5, Base: 1, Cap: 2, Multiplier: 3, MaxServerWait: 4, MinAttemptTime: 5, RetryNested: true,
			Budget: retry.BudgetConfig{Off: true, Ratio: 0.2, Window: 6, Burst: 7},
		}, `{"max_attempts":5,"base":1,"cap":2,"multiplier":3,"max_server_wait":4,"min_attempt_time":5,` +
			`"retry_nested":true,"budget":{"off":true,"ratio":0.2,"window":6,"burst":7}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(test.config)
			if err != nil || string(text) != test.text {
				t.Errorf("got %s, %v", text, err)
			}
			var back retry.Config
			if err := json.Unmarshal(text, &back); err != nil || back != test.config {
				t.Errorf("came back as %+v, %v", back, err)
			}
		})
	}
}
