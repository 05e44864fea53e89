package deadline_test

import (
	"math"
	"testing"

	"github.com/backstay-go/backstay/deadline"
)

func TestADeadlineOfLongAgoIsLateWhateverTheReserve(t *testing.T) {
	p, err := deadline.New(deadline.Config{Reserve: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	if b := p.Plan(math.MinInt64, true); !b.Late || b.Left > 0 {
		t.Errorf("%+v", b)
	}
}
