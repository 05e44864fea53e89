package runtime

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
)

func TestTheTickAfterADueOneIsInTheFutureAndWhatWasMissedIsCounted(t *testing.T) {
	for _, x := range []struct {
		name      string
		tick, now int64
		period    string
		then      int64
		missed    uint64
	}{
		{"once", 1000, 5000, "", 0, 0},
		{"on time", 1000, 1000, "1s", 2000, 0},
		{"by a clock that is behind", 1000, 900, "1s", 2000, 0},
		{"a little late", 1000, 1999, "1s", 2000, 0},
		{"exactly one late", 1000, 2000, "1s", 3000, 1},
		{"very late", 1000, 11_500, "1s", 12_000, 10},
		{"a line of cron", 60_000, 60_000, "cron UTC * * * * *", 120_000, 0},
		{"a line of cron, late", 60_000, 180_001, "cron UTC * * * * *", 240_000, 2},
		{"a zone that this host does not know", 60_000, 60_000, "cron Nowhere/At * * * * *", 0, 0},
		{"a period that was written by a newer program", 1000, 5000, "@daily", 0, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if then, missed, _ := after(x.tick, x.period, x.now); then != x.then || missed != x.missed {
				t.Errorf("then %d, missed %d", then, missed)
			}
		})
	}
}

func TestAClockFollowsTheLogsAndForgetsWhatIsLongAgo(t *testing.T) {
	var c clock
	local := backstay.Now()
	at := func(difference int64) int64 {
		c.sample(c.local(local)+difference, local)
		return c.at(local) - c.local(local)
	}
	for i, x := range []struct {
		after            time.Duration
		difference, want int64
	}{
		{0, -500, -500},                       // the first there is
		{time.Second, -600, -500},             // was under way for longer
		{time.Second, -300, -300},             // was under way for less
		{11 * time.Second, -5000, -300},       // a new while begins: the last still counts
		{11 * time.Second, -5000, -5000},      // the log's clock was set back
		{time.Second, 60_000, 60_000},         // and forth
		{time.Second, -1_000_000_000, 60_000}, // no append time
	} {
		local = local.Add(x.after)
		if i == 6 {
			c.sample(0, local)
		} else if got := at(x.difference); got != x.want {
			t.Errorf("sample %d: %d, want %d", i, got, x.want)
		}
	}
}

func TestABufferLiesOverTheCells(t *testing.T) {
	applied := func() []record.Cell {
		return []record.Cell{{Name: "m/a", Value: []byte("1")}, {Name: "m/b", Value: []byte("2")}, {Name: "m/c", Value: []byte("3")}}
	}
	var b buffer
	b.write(record.Cell{Name: "m/b", Removed: true})
	b.write(record.Cell{Name: "m/d", Value: []byte("4")})
	b.write(record.Cell{Name: "m/a", Value: []byte("5")})
	b.write(record.Cell{Name: "m/a", Value: []byte("6")})
	b.write(record.Cell{Name: "other", Value: []byte("7")})
	b.write(record.Cell{Name: "m/gone", Removed: true})
	if got := read(b.over(applied(), "m/")); got != "m/a6 m/c3 m/d4 " {
		t.Errorf("got %q", got)
	}
	b.clear()
	b.write(record.Cell{Name: "m/x", Value: []byte("8")})
	if got := read(b.over(applied(), "m/")); got != "m/x8 " {
		t.Errorf("after clear: %q", got)
	}
	if _, cleared := b.cell("m/c"); !cleared {
		t.Error("a cell survived clear")
	}
}

func read(cells []record.Cell) (s string) {
	for _, c := range cells {
		s += c.Name + string(c.Value) + " "
	}
	return s
}

func TestIdsAreThoseOfTheRecordPackage(t *testing.T) {
	p := record.Partition{Type: "t", Index: 3}
	ids := newIdentities(p, 7)
	for n := range uint64(3) {
		if got, want := ids.next(), record.ChildID(p, 7, n+1); got != want {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}
