package runtime

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/memory"
)

func about(n int) subject { return subject{id: record.ID{byte(n), byte(n >> 8), byte(n >> 16)}} }

func TestAnAgendaGivesItsAppointmentsInOrderOfTime(t *testing.T) {
	var g agenda
	random := rand.New(rand.NewPCG(1, 2))
	var want []int64
	for n := range 500 {
		at := random.Int64N(100)
		want = append(want, at)
		g.add(appointment{at: at, subject: about(n)})
	}
	slices.Sort(want)
	if _, early := g.next(want[0] - 1); early {
		t.Error("it gave one that is not due")
	}
	if got := times(&g); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func times(g *agenda) (all []int64) {
	for x, ok := g.next(1 << 40); ok; x, ok = g.next(1 << 40) {
		all = append(all, x.at)
	}
	return all
}

func TestAnAppointmentTakesThePlaceOfTheOneBefore(t *testing.T) {
	var g agenda
	g.add(appointment{at: 10, what: dueReminder, subject: about(1), tick: 10})
	g.add(appointment{at: 30, what: dueReminder, subject: about(1), tick: 30})
	g.add(appointment{at: 20, what: dueBusy, subject: about(1)})
	if at, ok := g.first(); at != 20 || !ok {
		t.Errorf("the first is at %d", at)
	}
	g.add(appointment{at: 5, what: dueReminder, subject: about(1), tick: 5})
	g.cancel(dueBusy, about(1))
	g.cancel(dueBusy, about(2))
	if got := times(&g); !slices.Equal(got, []int64{5}) {
		t.Errorf("got %v", got)
	}
	g.add(appointment{at: 7, what: dueRetry, subject: about(1)}) // cancelled, made again
	g.cancel(dueRetry, about(1))
	g.add(appointment{at: 7, what: dueRetry, subject: about(1)})
	if got := times(&g); !slices.Equal(got, []int64{7}) || len(g.heap) != 0 {
		t.Errorf("got %v, left %v", got, g.heap)
	}
}

// An actor that backs off is touched again and again, and most calls end long
// before their deadline.
func TestAnAgendaIsBoundedByWhatIsPending(t *testing.T) {
	var g agenda
	for n := range 100_000 {
		g.add(appointment{at: 1 << 30, what: dueRetry, subject: about(0)}) // touched
		g.add(appointment{at: int64(1<<20 + n), what: dueDeadline, subject: about(n)})
		if n >= 100 {
			g.cancel(dueDeadline, about(n-100)) // it has ended
		}
		if most := 2*g.live + fewAppointments; len(g.heap) > most {
			t.Fatalf("%d appointments, of which %d count", len(g.heap), g.live)
		}
	}
	if g.live != 101 {
		t.Errorf("%d count", g.live)
	}
	for n := range 100_000 {
		g.cancel(dueDeadline, about(n))
	}
	if len(g.heap) > fewAppointments || g.live != 1 {
		t.Errorf("%d appointments are left, of which %d count", len(g.heap), g.live)
	}
}

func TestAnAgendaDoesWhatAListWould(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	type key struct {
		what due
		of   subject
	}
	for range 50 {
		var g agenda
		list := make(map[key]int64)
		for range 2000 {
			k := key{due(random.IntN(3)), about(random.IntN(200))}
			switch random.IntN(5) {
			case 0, 1, 2:
				list[k] = random.Int64N(1000)
				g.add(appointment{at: list[k], what: k.what, subject: k.of})
			case 3:
				g.cancel(k.what, k.of)
				delete(list, k)
			default:
				now := random.Int64N(20)
				for x, ok := g.next(now); ok; x, ok = g.next(now) {
					if at, is := list[key{x.what, x.subject}]; !is || at != x.at {
						t.Fatalf("it gave %+v, want one at %d (%v)", x, at, is)
					}
					delete(list, key{x.what, x.subject})
				}
				for k, at := range list {
					if at <= now {
						t.Fatalf("%+v is due at %d and was not given at %d", k, at, now)
					}
				}
			}
		}
		if g.live != len(list) {
			t.Fatalf("%d count, want %d", g.live, len(list))
		}
	}
}

// look runs on the owner's loop.
type look func(*incarnation)

func (f look) happen(inc *incarnation) { f(inc) }

// Calls with deadlines that have ended, reminders that were removed, and an actor
// that backs off while it is told a thousand things, leave an owner's agenda as
// short as what is pending.
func TestAnOwnersAgendaIsBoundedByWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		typ := Type{Name: "t", Settings: Settings{Backoff: func(uint64) time.Duration { return time.Hour }}, Methods: map[string]Method{
			"end":  {Run: func(context.Context, *Attempt) End { return End{} }},
			"fail": {Run: func(context.Context, *Attempt) End { return End{Retry: &Retry{Reason: "later"}} }},
			"wake": {Run: func(_ context.Context, a *Attempt) End {
				_ = a.Remind(record.Reminder{Name: string(a.Request().Args), Method: "end", Next: a.Now() + 3_600_000})
				return End{}
			}},
			"sleep": {Run: func(_ context.Context, a *Attempt) End {
				_ = a.Remind(record.Reminder{Name: string(a.Request().Args)})
				return End{}
			}},
		}}
		n, err := Open(t.Context(), memory.New(memory.WithPartitions(1)), Config{Types: []Type{typ}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Stop(context.Background()) }() // nothing is left to hand over
		to := func(actor, method string) ClientCall {
			return ClientCall{Target: record.Address{Type: "t", Actor: actor}, Method: method, TTL: 3_600_000}
		}
		if err := n.Tell(t.Context(), to("failing", "fail")); err != nil {
			t.Fatal(err)
		}
		const many = 1000
		for i := range many {
			if err := n.Tell(t.Context(), ClientCall{Target: record.Address{Type: "t", Actor: "failing"}, Method: "end"}); err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"end", "wake", "sleep"} {
				call := to("a", method)
				call.Args = strconv.AppendInt(nil, int64(i), 10)
				if _, err := n.Call(t.Context(), call); err != nil {
					t.Fatal(err)
				}
			}
		}
		counted := make(chan int, 1)
		n.places.owner(journal.Partition{Type: "t"}).post(look(func(inc *incarnation) { counted <- len(inc.agenda.heap) }))
		if got := <-counted; got > fewAppointments+2 {
			t.Errorf("%d appointments", got)
		}
	})
}

// What is to be done after a while would be done so much later; what is due at a
// time of the log's is due then.
func TestWaitsAreCountedAnewWhenTheClockIsSetBack(t *testing.T) {
	const before, back = 10_000, 7_000
	for name, x := range map[string]struct {
		appointment
		want int64
	}{
		"a wait":                     {appointment{at: before + 500, what: dueSend}, before + 500 - back},
		"a deadline":                 {appointment{at: before + 500, what: dueDeadline}, before + 500},
		"a reminder that is not due": {appointment{at: before + 500, what: dueReminder, tick: before + 500}, before + 500},
		"one that was early, and not long ago due": {appointment{at: before + 500, what: dueReminder, tick: before - 100}, before - 100},
		"one that was due long ago":                {appointment{at: before + 500, what: dueReminder, tick: 100}, before + 500 - back},
	} {
		var g agenda
		g.add(x.appointment)
		g.renew(back)
		if at, ok := g.first(); !ok || at != x.want || g.live != 1 {
			t.Errorf("%s is due at %d, want %d", name, at, x.want)
		}
	}
}
