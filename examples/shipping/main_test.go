package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/examples/internal/drill"
)

// The process that is killed is this test's own program, started anew.
func TestMain(m *testing.M) {
	if drill.Folder() != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestNothingIsLostHoweverOftenTheProcessDies(t *testing.T) {
	var out bytes.Buffer
	// At this pace the last order comes long after the first kill.
	if err := tell(t.Context(), []string{"-crash", "-orders", "150", "-seed", "7", "-pace", "60ms"}, nil, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	calm, bad, _ := strings.Cut(out.String(), "with kills:")
	for _, spell := range []string{calm, bad} { // who is killed after it has told tells again
		if !strings.Contains(spell, "  150 orders: ") {
			t.Errorf("a spell came to no end:\n%s", &out)
		}
		if !strings.Contains(spell, "900 containers, of 900 at the beginning") {
			t.Errorf("containers:\n%s", &out)
		}
	}
	if !strings.Contains(out.String(), "From a kill to the next receipt") {
		t.Errorf("it tells of no outage:\n%s", &out)
	}
}

func TestTheCommandLineIsLookedAt(t *testing.T) {
	for _, args := range [][]string{{"-orders", "0"}, {"-storm"}, {"-day", "0s"}, {"-kafka", "127.0.0.1:1", "-app", "a.b"}} {
		if err := tell(t.Context(), args, nil, new(bytes.Buffer)); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

func TestAShipsLogIsChecked(t *testing.T) {
	left := time.Now()
	good := Logbook{Leg: Leg{Departs: left, Days: atSea, Capacity: 20}, Free: 5, Held: 3, Loaded: 12, Landed: 12, Departed: left, Arrived: left.Add(atSea * day)}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(l *Logbook){
		"it has more room than it has":   func(l *Logbook) { l.Free++ },
		"it leaves too early":            func(l *Logbook) { l.Leg.Departs = left.Add(time.Second) },
		"it arrives without having left": func(l *Logbook) { l.Departed = time.Time{} },
		"it arrives too early":           func(l *Logbook) { l.Arrived = left },
		"it lands less than it loaded":   func(l *Logbook) { l.Landed-- },
	} {
		bad := good
		if spoil(&bad); bad.check() == nil {
			t.Errorf("nobody minds that %s", what)
		}
	}
}

func TestTheLineIsDrawnOnlyWhenAllIsSettled(t *testing.T) {
	settled := func() (audited, map[State]int) {
		return audited{states: map[State]int{Delivered: 8, Rejected: 2}, stock: stockOfPort * len(ports), voyages: 3},
			map[State]int{Placed: 10, Rejected: 2, Booked: 8, Sailing: 8, Delivered: 8}
	}
	f, noted := settled()
	if err := f.settled(noted, 10); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(f *audited, noted map[State]int){
		"an order is lost":           func(f *audited, _ map[State]int) { f.states[Delivered]-- },
		"an order is at sea":         func(f *audited, _ map[State]int) { f.states[Delivered]--; f.states[Sailing]++ },
		"the manager counts one too": func(_ *audited, noted map[State]int) { noted[Booked]++ },
		"a container is lost":        func(f *audited, _ map[State]int) { f.stock-- },
		"a ship is at sea":           func(f *audited, _ map[State]int) { f.underWay++ },
	} {
		f, noted := settled()
		if spoil(&f, noted); f.settled(noted, 10) == nil {
			t.Errorf("nobody minds that %s", what)
		}
	}
}

func TestOutagesAreMeasuredFromAKillToTheNextReceipt(t *testing.T) {
	at := time.Unix(1000, 0)
	s := spell{killed: []time.Time{at.Add(time.Second), at.Add(time.Hour)}}
	s.measure([]note{
		{placed: at, answered: at.Add(3 * time.Second)},
		{placed: at, answered: at.Add(500 * time.Millisecond)},
	})
	if len(s.outages) != 1 || s.outages[0] != 2*time.Second {
		t.Errorf("outages %v", s.outages)
	}
	if got := part(s.latencies, 50) + " " + part(s.latencies, 100); got != "500.0ms 3000.0ms" {
		t.Errorf("latencies %s", got)
	}
}
