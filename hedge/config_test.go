package hedge_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
)

func TestTheZeroConfigIsValid(t *testing.T) {
	if err := (hedge.Config{}).Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestConfigFaultsNameTheirField(t *testing.T) {
	for name, tc := range map[string]struct {
		c    hedge.Config
		path string
	}{
		"a negative delay":            {hedge.Config{Delay: -1}, "delay"},
		"a delay of two hours":        {hedge.Config{Delay: 2 * time.Hour}, "delay"},
		"a percentile of one":         {hedge.Config{Percentile: 1}, "percentile"},
		"a percentile in percent":     {hedge.Config{Percentile: 95}, "percentile"},
		"a negative percentile":       {hedge.Config{Percentile: -0.5}, "percentile"},
		"a percentile that is NaN":    {hedge.Config{Percentile: math.NaN()}, "percentile"},
		"a percentile that is Inf":    {hedge.Config{Percentile: math.Inf(1)}, "percentile"},
		"negative samples":            {hedge.Config{MinSamples: -1}, "min_samples"},
		"more samples than are kept":  {hedge.Config{MinSamples: math.MaxInt}, "min_samples"},
		"a negative floor":            {hedge.Config{Floor: -1}, "floor"},
		"an absurd floor":             {hedge.Config{Floor: math.MaxInt64 - 1, Ceiling: math.MaxInt64}, "floor"},
		"a ceiling at the floor":      {hedge.Config{Floor: time.Second, Ceiling: time.Second}, "ceiling"},
		"a ceiling below the default": {hedge.Config{Ceiling: time.Millisecond}, "ceiling"},
		"an absurd ceiling":           {hedge.Config{Ceiling: math.MaxInt64}, "ceiling"},
		"negative copies":             {hedge.Config{MaxCopies: -1}, "max_copies"},
		"eleven copies":               {hedge.Config{MaxCopies: 11}, "max_copies"},
		"a negative ratio":            {hedge.Config{Budget: hedge.BudgetConfig{Ratio: -0.1}}, "budget.ratio"},
		"a ratio above one":           {hedge.Config{Budget: hedge.BudgetConfig{Ratio: 1.5}}, "budget.ratio"},
		"a ratio that is NaN":         {hedge.Config{Budget: hedge.BudgetConfig{Ratio: math.NaN()}}, "budget.ratio"},
		"a negative burst":            {hedge.Config{Budget: hedge.BudgetConfig{Burst: -1}}, "budget.burst"},
		"an absurd burst":             {hedge.Config{Budget: hedge.BudgetConfig{Burst: math.MaxInt}}, "budget.burst"},
	} {
		t.Run(name, func(t *testing.T) {
			fault, ok := errors.AsType[*backstay.FieldError](tc.c.Validate())
			if !ok || fault.Path != tc.path {
				t.Errorf("got %v, want a fault of %s", fault, tc.path)
			}
		})
	}
}

func TestAllConfigFaultsComeAtOnceAndWithTheirSection(t *testing.T) {
	_, err := hedge.New(hedge.Config{Delay: -1, MaxCopies: -1, Budget: hedge.BudgetConfig{Ratio: 2}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, path := range []string{"hedge.delay:", "hedge.max_copies:", "hedge.budget.ratio:"} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%q lacks %s", err, path)
		}
	}
}

func TestConfigIsDataInSnakeCase(t *testing.T) {
	got, err := json.Marshal(hedge.Config{MinSamples: 3, MaxCopies: 2, Budget: hedge.BudgetConfig{Burst: 4}})
	if err != nil || string(got) != `{"min_samples":3,"max_copies":2,"budget":{"burst":4}}` {
		t.Errorf("got %s, %v", got, err)
	}
}
