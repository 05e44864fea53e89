package policyfile_test

import (
	"math"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestTheWorstCase(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       policyfile.WorstCase
	}{
		{"the standard", "", policyfile.WorstCase{Attempts: 3, Copies: 1, Share: 1.1, Burst: 3, Time: 10 * time.Second, Fit: 3}},
		{"no policies", "extends: none", policyfile.WorstCase{Attempts: 1, Copies: 1, Share: 1, Fit: 1}},
		{"copies spend from the budget of retries", "extends: reads", policyfile.WorstCase{Attempts: 3, Copies: 2, Share: 1.1, Burst: 3, Time: 10 * time.Second, Fit: 3}},
		{"copies alone", "extends: none, hedge: on", policyfile.WorstCase{Attempts: 1, Copies: 2, Share: 1.05, Burst: 10, Fit: 1}},
		{"copies of one attempt", "retry: {max_attempts: 1}, hedge: on", policyfile.WorstCase{Attempts: 1, Copies: 2, Share: 1.05, Burst: 3, Time: 10 * time.Second, Fit: 1}},
		{"no budget", "retry: {budget: off}", policyfile.WorstCase{Attempts: 3, Copies: 1, Share: 3, Time: 10 * time.Second, Fit: 3}},
		{"no retries", "retry: off", policyfile.WorstCase{Attempts: 1, Copies: 1, Share: 1, Time: 10 * time.Second, Fit: 1}},
		{"one attempt", "retry: {max_attempts: 1}", policyfile.WorstCase{Attempts: 1, Copies: 1, Share: 1, Time: 10 * time.Second, Fit: 1}},
		{"a tight total", "deadline: {total: 3s}", policyfile.WorstCase{Attempts: 3, Copies: 1, Share: 1.1, Burst: 3, Time: 3 * time.Second, Fit: 1}},
	} {
		if got := policyfile.WorstCaseOf(parse(t, c.body)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestLayersMultiply(t *testing.T) {
	naive, bounded := policyfile.WorstCaseOf(parse(t, "")).Layers(3)
	if naive != 27 || math.Abs(bounded-1.331) > 1e-9 {
		t.Errorf("got %v and %v, want 27 and 1.331", naive, bounded)
	}
}
