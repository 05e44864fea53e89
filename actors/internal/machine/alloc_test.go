package machine

import (
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestARequestAndItsStepAreAppliedInFewAllocations(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	const runs = 2000
	s := steady()
	records := make([][2]record.Record, 2*runs)
	for i := range records {
		p := pairOf(uint64(i))
		records[i][0], _ = record.Decode(p.request)
		records[i][1], _ = record.Decode(p.step)
	}
	n := 0
	apply := func() {
		for _, r := range records[n] {
			s.Apply(r, int64(1_000_000+n))
		}
		n++
	}
	for range runs - 1 { // until as many answers are forgotten as are made
		apply()
	}
	if got := testing.AllocsPerRun(runs, apply); got > 0 {
		t.Errorf("%v allocations, want none but now and then a page", got)
	}
}

func TestAStepIsDecodedInFewAllocations(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	step := pairOf(1).step
	if got := testing.AllocsPerRun(1000, func() { _, _ = record.Decode(step) }); got > 2 {
		t.Errorf("%v allocations, want the record, its cells, and the name of one", got)
	}
}
