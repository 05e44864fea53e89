package bulkhead

import "testing"

func TestLowerPrioritiesMayFillAShareOfTheLimitRoundedUp(t *testing.T) {
	off := makePlan(Config{})
	on := makePlan(Config{Priorities: &PriorityConfig{}})
	odd := makePlan(Config{Priorities: &PriorityConfig{DefaultShare: 0.55, SheddableShare: 0.01}})
	for _, c := range []struct {
		name     string
		plan     *plan
		limit    int64
		priority Priority
		want     int64
	}{
		{"without priorities all are alike", off, 10, Sheddable, 10},
		{"critical calls may have it all", on, 10, Critical, 10},
		{"others 90 percent", on, 10, Default, 9},
		{"sheddable ones 70", on, 10, Sheddable, 7},
		{"shares round up", on, 8, Sheddable, 6},
		{"but not by floating point", odd, 100, Default, 55},
		{"everybody has a place", odd, 1, Sheddable, 1},
		{"in an empty house, too", odd, 50, Sheddable, 1},
		{"beyond critical is critical", on, 10, Critical + 5, 10},
		{"beyond sheddable is sheddable", on, 10, Sheddable - 5, 7},
		{"no limit, no overflow", on, maxLimit, Critical, maxLimit},
	} {
		if got := c.plan.ceiling(c.limit, c.priority.rank()); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestWeightsOfAnySizeAreComparedWithoutOverflow(t *testing.T) {
	const most = int64(^uint64(0) >> 1)
	for _, c := range []struct {
		inFlight, weight, ceiling int64
		want                      bool
	}{
		{0, 1, 1, true}, {1, 1, 1, false}, {0, 2, 1, false}, {3, 2, 5, true},
		{0, most, 1, false}, {maxLimit, most, maxLimit, false}, {5, 1, 3, false},
	} {
		if got := fits(c.inFlight, c.weight, c.ceiling); got != c.want {
			t.Errorf("%d with %d in flight under %d: %v", c.weight, c.inFlight, c.ceiling, got)
		}
	}
}
