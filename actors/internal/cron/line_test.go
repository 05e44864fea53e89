package cron_test

import (
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/cron"
)

func TestLinesThatAreNoneAreRefused(t *testing.T) {
	for line, words := range map[string]string{
		"":                          "has 0",
		"* * * *":                   "has 4",
		"* * * * * *":               "has 6",
		"60 * * * *":                "minute: \"60\" is no number from 0 to 59",
		"* 24 * * *":                "hour",
		"* * 0 * *":                 "day of month",
		"* * 32 * *":                "day of month",
		"* * * 13 *":                "month",
		"* * * * 8":                 "day of week",
		"* * * * monday":            "day of week",
		"-1 * * * *":                "minute",
		"+1 * * * *":                "minute",
		"1- * * * *":                "minute",
		"5-1 * * * *":               "ends before it begins",
		"*/0 * * * *":               "the step",
		"*/60 * * * *":              "the step",
		"*/x * * * *":               "the step",
		"5/15 * * * *":              "a step needs a range",
		"1,,2 * * * *":              "minute",
		"? * * * *":                 "minute",
		"0 0 30 2 *":                "never due",
		"0 0 31 2,4,6,9,11 *":       "never due",
		"99999999999999999 * * * *": "minute",
	} {
		if _, err := cron.Parse(line); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, want words %q", line, err, words)
		}
	}
}

func TestLinesAreRead(t *testing.T) {
	for _, line := range []string{
		"* * * * *", "0 0 29 2 *", "0 0 30 2 mon", "*/15 8-18/2 1,15 JAN-mar,12 mon-FRI", "59 23 31 12 7", "  0   0 *\t* 0-7 ",
	} {
		if _, err := cron.Parse(line); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	for _, line := range []string{"* * * * *", "*/15 8-18/2 1,15 jan-mar mon-fri", "0 0 30 2 *", "1-/ , - * *"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := cron.Parse(text)
		if err != nil {
			return
		}
		if next := l.Next(noon); !next.After(noon) {
			t.Errorf("%q: after %v comes %v", text, noon, next)
		}
	})
}
