package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"testing"
)

func TestEverySceneShowsWhatItClaims(t *testing.T) {
	for _, row := range []struct {
		name string
		play func(context.Context, io.Writer) error
		says []string
	}{
		{"only the canonical order takes conflicts for an illness", showConflicts, []string{
			`by hand: +30 succeed, 0 fail, 0 are refused; the breaker is closed`,
			`canonical order: 5 succeed, 1 fail, 24 are refused; the breaker is open`,
		}},
		{"a mistake costs one query and no health", showMistakes, []string{
			`30 fail, 0 are refused, after 30 queries; the breaker is closed`,
			`database: no such row`,
		}},
		{"an outage opens the breaker", showOutage, []string{
			`10 fail, 20 are refused, after 23 queries; the breaker is open`,
			`breaker orders: open`,
		}},
		{"a full pool refuses", showPool, []string{
			`bulkhead orders: full: 4 of 4 in flight`,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := row.play(t.Context(), &out); err != nil {
				t.Fatal(err)
			}
			for _, claim := range row.says {
				if !regexp.MustCompile(claim).Match(out.Bytes()) {
					t.Errorf("it does not say %q:\n%s", claim, &out)
				}
			}
		})
	}
}

func TestFindReturnsTheOrder(t *testing.T) {
	o, err := newOrders(&database{mood: conflicting})
	if err != nil {
		t.Fatal(err)
	}
	if row, err := o.find(t.Context(), 7); row != "order 7" || err != nil {
		t.Errorf("got %q, %v", row, err)
	}
}
