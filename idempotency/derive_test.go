package idempotency_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/idempotency"
	"pgregory.net/rapid"
)

const sampleKey = "8e03978e-40d5-43dd-bc93-6894a57f9324"

// The vectors were computed by another program from the construction that the
// documentation gives. They must never change: a retry after an upgrade would
// charge the card again.
func TestDerivedKeysStayTheSameForEver(t *testing.T) {
	for _, c := range []struct {
		parent string
		names  []string
		want   string
	}{
		{sampleKey, nil, "10d8ce6f-7e78-8e38-9d3f-b73e8be6380b"},
		{sampleKey, []string{"charge"}, "aac6692a-bcd9-87d5-a4e0-b843cedfd6f0"},
		{sampleKey, []string{"charge", "1"}, "20469cdb-708b-8a6f-a99d-7cc946f79eda"},
		{sampleKey, []string{"charge1"}, "b44ad735-941b-816e-9b48-0c9df6d4e14f"},
		{sampleKey, []string{""}, "c3e6d82f-b634-8929-8090-8c0fbe3f78dc"},
		{"order-42", []string{"a", "bc"}, "9070a8f2-77de-83be-b50b-0fd12dc1d500"},
		{"order-42", []string{"ab", "c"}, "b1c1513d-3794-8f9b-a0eb-be41b6280d7d"},
		{sampleKey, []string{strings.Repeat("n", 300)}, "0af1a771-eb7a-8e29-b6d2-76ea3ba442dc"},
		{"k", []string{"ü\x00"}, "eb472e3e-1626-80dc-8c64-aefa966ad4ac"},
		{"", []string{"charge"}, ""}, // no parent, no child
	} {
		if got := idempotency.Derive(c.parent, c.names...); got != c.want {
			t.Errorf("Derive(%q, %.20q) = %q, want %q", c.parent, c.names, got, c.want)
		}
	}
}

func TestDerivedKeysAreValidAndTellTheirNamesApart(t *testing.T) {
	part := rapid.StringOf(rapid.SampledFrom([]rune("ab\x00\x01\xff:"))) // few letters, so that joins collide
	parts := rapid.SliceOfN(part, 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		parent, one, other := "p"+part.Draw(t, "parent"), parts.Draw(t, "one"), parts.Draw(t, "other")
		a, b := idempotency.Derive(parent, one...), idempotency.Derive(parent, other...)
		if err := idempotency.CheckKey(a); err != nil {
			t.Fatal(err)
		}
		if (a == b) != slices.Equal(one, other) {
			t.Fatalf("%q and %q become %s and %s", one, other, a, b)
		}
	})
}

func TestAChildOfAChildIsNoSibling(t *testing.T) {
	child := idempotency.Derive("p", "a")
	if idempotency.Derive(child, "b") == idempotency.Derive("p", "a", "b") {
		t.Error("the levels of a derivation run into one another")
	}
}
