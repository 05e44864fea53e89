package policyfile

import (
	"math"
	"time"

	"github.com/backstay-go/backstay/middleware"
)

// WorstCase is the most that a target's policies make of its calls.
type WorstCase struct {
	// Attempts is how many attempts one call makes, and Copies how many
	// requests one attempt.
	Attempts, Copies int
	// Share is how many requests the backend gets for each call where all of
	// them fail, for as long as that lasts; Burst is what comes on top, once.
	// Both are per key (host) of the target.
	Share float64
	Burst int
	// Time bounds one call, 0 if nothing does.
	Time time.Duration
	// Fit is how many of the attempts fit into Time where each of them runs
	// into its timeout and each wait is as long as it gets.
	Fit int
}

// Requests is the most that one call costs the backend.
func (w WorstCase) Requests() int { return w.Attempts * w.Copies }

// Layers returns what n services in a row, each with these policies, make of
// one call at the last of them: naive, were there no budgets, and bounded, per
// call, where all calls fail.
func (w WorstCase) Layers(n int) (naive, bounded float64) {
	return math.Pow(float64(w.Requests()), float64(n)), math.Pow(w.Share, float64(n))
}

// WorstCaseOf returns the most that t makes of its calls.
func WorstCaseOf(t middleware.Target) WorstCase {
	x := ofTarget(&t)
	w := WorstCase{Attempts: 1, Copies: 1, Share: 1}
	if n, on := x.value("retry.max_attempts"); on {
		w.Attempts = int(n)
	}
	if n, on := x.value("hedge.max_copies"); on {
		w.Copies += int(n)
	}
	w.Time, _ = x.bound("deadline.total")
	w.Fit = fitting(x, w)
	w.spend(x)
	return w
}

// spend adds what the budgets allow. Copies pay into their own budget and, as
// retries do, into that of retries.
func (w *WorstCase) spend(x values) {
	copies, copying := x.value("hedge.budget.ratio")
	burst, _ := x.value("hedge.budget.burst")
	if !copying || w.Copies == 1 {
		copies, burst = 0, 0
	}
	ratio, budgeted := x.value("retry.budget.ratio")
	if budgeted && w.Requests() > 1 {
		free, _ := x.value("retry.budget.burst")
		if w.Attempts == 1 { // all that spends is copies
			ratio, free = min(ratio, copies), min(max(free, 0), burst)
		}
		w.Share, w.Burst = 1+ratio, max(0, int(free))
		return
	}
	w.Share = min(float64(w.Attempts)*(1+copies), float64(w.Requests()))
	w.Burst = int(burst)
}

// fitting returns how many attempts of the longest kind fit into the total.
func fitting(x values, w WorstCase) int {
	attempt, limited := x.bound("timeout.after")
	if w.Time == 0 || !limited {
		return w.Attempts
	}
	fit, spent := 1, attempt
	for n := 1; n < w.Attempts; n++ {
		if spent = add(spent, wait(x, n), attempt); spent > w.Time {
			break
		}
		fit++
	}
	return fit
}

// wait returns the bound of the wait after attempt n.
func wait(x values, n int) time.Duration {
	base, on := x.bound("retry.base")
	if !on {
		return 0
	}
	most, _ := x.value("retry.cap")
	grows, _ := x.value("retry.multiplier")
	return time.Duration(toInt(min(most, float64(base)*math.Pow(grows, float64(n-1)))))
}

// add is a sum that does not overflow.
func add(all ...time.Duration) (sum time.Duration) {
	for _, d := range all {
		if sum += d; sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}
