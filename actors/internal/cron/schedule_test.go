package cron_test

import (
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/internal/cron"
)

func TestASchedulesTextIsReadAgain(t *testing.T) {
	text := cron.Text(" 30 8  * * mon-fri ", "Europe/Berlin")
	if text != "cron Europe/Berlin 30 8 * * mon-fri" || !cron.Is(text) || cron.Is("1h0m0s") {
		t.Fatal(text)
	}
	s, err := cron.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := time.UnixMilli(s.Next(noon.UnixMilli())).UTC(); !got.Equal(time.Date(2026, 6, 2, 6, 30, 0, 0, time.UTC)) {
		t.Error(got)
	}
	if utc := cron.Text("* * * * *", ""); utc != "cron UTC * * * * *" {
		t.Error(utc)
	}
}

func TestSchedulesThatAreNoneAreRefused(t *testing.T) {
	for text, words := range map[string]string{
		cron.Text("* * * * *", "Local"):      "another one on every host",
		cron.Text("* * * * *", "Nowhere/At"): "zone",
		cron.Text("* * * *", "UTC"):          "5 fields",
	} {
		if _, err := cron.Read(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTicksThatWereMissedAreCounted(t *testing.T) {
	s, err := cron.Read(cron.Text("0 * * * *", ""))
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Hour.Milliseconds()
	tick := noon.UnixMilli()
	for _, c := range []struct {
		now    int64
		then   int64
		missed uint64
	}{
		{tick, tick + hour, 0}, {tick + 1, tick + hour, 0}, {tick + hour - 1, tick + hour, 0},
		{tick + hour, tick + 2*hour, 1}, {tick + 5*hour + 1, tick + 6*hour, 5}, {tick - 5*hour, tick + hour, 0},
		{tick + 50_000*hour + 1, tick + 50_001*hour, 10_000},
	} {
		if then, missed := s.Then(tick, c.now); then != c.then || missed != c.missed {
			t.Errorf("now %d: %d and %d, want %d and %d", c.now-tick, then-tick, missed, c.then-tick, c.missed)
		}
	}
}
