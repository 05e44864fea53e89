package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
	"github.com/backstay-go/backstay/retry"
)

func TestTheStateTellsRatesLatenciesAndTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		target := middleware.Target{Name: "payments", Config: middleware.Config{
			Breaker: &breaker.Config{OpenFor: time.Minute}, Bulkhead: &bulkhead.Config{Limit: 4},
			Retry: &retry.Config{Base: retry.NoWait, MaxAttempts: 2, Budget: retry.BudgetConfig{Burst: 10}},
		}}
		r := shown(t, c, target, "idle")
		for i := range 60 { // 15 seconds
			_ = call(r, "host", 10*time.Millisecond*time.Duration(1+i%10), nil)
			time.Sleep(250*time.Millisecond - 10*time.Millisecond*time.Duration(1+i%10))
		}
		s := state(t, c, "")
		if got := names(s); !slices.Equal(got, []string{"payments host", "payments idle"}) {
			t.Fatalf("rows %q", got)
		}
		row, idle := s.Rows[0], s.Rows[1]
		if row.Level != "well" || math.Abs(row.CallRate-4) > 0.5 || row.FailedShare == nil || *row.FailedShare != 0 {
			t.Errorf("%+v", row)
		}
		if l := row.Latency; l == nil || off(l.P50, 50) || off(l.P95, 100) || off(l.P99, 100) {
			t.Errorf("latency %+v", l)
		}
		if idle.Level != "idle" || idle.Latency != nil || idle.FailedShare != nil || idle.State.Bulkhead.Limit != 4 {
			t.Errorf("%+v", idle)
		}
		for range 12 {
			_ = call(r, "host", time.Millisecond, errDown)
		}
		time.Sleep(2 * time.Second)
		s = state(t, c, "id="+row.ID)
		row = s.Rows[0]
		if row.Level != "down" || row.State.Breaker.State != "open" || row.RefusedRate == 0 || row.RetryRate == 0 || *row.FailedShare == 0 {
			t.Errorf("%+v", row)
		}
		if len(row.Changes) != 1 || row.Changes[0].To != "open" || row.Changes[0].Reason != "failure_ratio" || row.Changes[0].Wait != 60_000 {
			t.Errorf("changes %+v", row.Changes)
		}
		if d := s.Detail; d == nil || d.ID != row.ID || len(d.Notices) == 0 || d.Refused == (console.Bars{}) {
			t.Errorf("detail %+v", d)
		}
		if s.Totals.Pipelines != 2 || s.Totals.Levels["down"] != 1 || s.Totals.Levels["idle"] != 1 || s.Totals.Levels["well"] != 0 {
			t.Errorf("totals %+v", s.Totals)
		}
		time.Sleep(2 * time.Minute) // all of it is history now
		if row = state(t, c, "").Rows[0]; row.CallRate != 0 || row.Latency != nil || row.Calls != (console.Bars{}) || len(row.Changes) != 1 {
			t.Errorf("later: %+v", row)
		}
	})
}

// off reports whether a latency is further from the truth than it may be.
func off(got, want float64) bool { return math.Abs(got-want) > 0.07*want }

func TestTheStateTellsOfHedging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		r := shown(t, c, middleware.Target{Name: "reads", Config: middleware.Config{Hedge: &hedge.Config{Delay: 10 * time.Millisecond}}})
		for _, slow := range []int{1, 2} { // the copy wins, then the first
			_, _ = middleware.Race(t.Context(), r.Get("host", backstay.Now()), nil, func(ctx context.Context) (int, error) {
				if hedge.Copy(ctx) == slow {
					time.Sleep(time.Second)
				}
				time.Sleep(15 * time.Millisecond)
				return 0, nil
			})
		}
		time.Sleep(2 * time.Second)
		row := state(t, c, "").Rows[0]
		if row.Copies != 2 || row.Wins != 1 || row.CopyRate == 0 || row.State.Hedge == nil {
			t.Errorf("%+v", row)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRowsAreOrderedByTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		r := shown(t, c, touchy("b"), "idle", "by-hand")
		r.Get("by-hand", backstay.Now()).Breaker().MetricsOnly()
		_ = call(r, "well", 0, nil)
		for range 2 {
			_ = call(r, "down", 0, errDown)
		}
		full := shown(t, c, middleware.Target{Name: "a", Config: middleware.Config{Bulkhead: &bulkhead.Config{Limit: 1}}})
		permit, err := full.Get("strained", backstay.Now()).Bulkhead().Acquire(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer permit.Release(backstay.Outcome{})
		alone, err := middleware.New(middleware.Target{Name: "alone"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddPipeline("one", alone); err != nil {
			t.Fatal(err)
		}
		_ = alone.Close(t.Context())
		time.Sleep(2 * time.Second)
		want := []string{"b down", "a strained", "b by-hand", "b well", "b idle", "one"}
		if got := names(state(t, c, "")); !slices.Equal(got, want) {
			t.Errorf("rows %q, want %q", got, want)
		}
		for query, want := range map[string][]string{
			"q=DOW": {"b down"}, "q=b+i": {"b idle"}, "q=b&level=well": {"b well"}, "level=recovering": nil, "level=shut": {"one"},
		} {
			if got := names(state(t, c, query)); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
	})
}

func TestAQueryThatMakesNoSenseIsRefused(t *testing.T) {
	c := made(t, console.Config{})
	for query, want := range map[string]string{
		"page=0": "page: must be", "page=-1": "page: must be", "page=x": "page: must be", "page=99999999999999999999": "page: must be",
		"level=bad": "level: must be one of down, recovering,", "q=" + strings.Repeat("x", 101): "q: must be at most",
	} {
		for _, path := range []string{"/state.json?", "/events?"} {
			if w := get(c, path+query); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s%s: %d %s", path, query, w.Code, w.Body)
			}
		}
	}
}

func TestTenThousandKeysAreAPageAndANumber(t *testing.T) {
	c := made(t, console.Config{})
	target := touchy("tenants")
	target.Keys.Max = 20_000
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("tenant-%05d", i)
	}
	r := shown(t, c, target, keys...)
	for range 2 {
		_ = call(r, "tenant-07777", 0, errDown)
	}
	for query, want := range map[string]console.Page{
		"":                  {Number: 1, Pages: 200, Size: 50, Matched: 10_000, First: 1},
		"page=200":          {Number: 200, Pages: 200, Size: 50, Matched: 10_000, First: 9951},
		"page=201":          {Number: 200, Pages: 200, Size: 50, Matched: 10_000, First: 9951},
		"page=2&q=tenant-0": {Number: 2, Pages: 200, Size: 50, Matched: 10_000, First: 51},
		"q=777":             {Number: 1, Pages: 1, Size: 50, Matched: 19, First: 1},
		"q=none":            {Number: 1, Pages: 1, Size: 50},
	} {
		s := state(t, c, query)
		if s.Page != want {
			t.Errorf("%q: %+v, want %+v", query, s.Page, want)
		}
		if rows := min(50, want.Matched-max(want.First-1, 0)); len(s.Rows) != rows {
			t.Errorf("%q: %d rows, want %d", query, len(s.Rows), rows)
		}
		if text, _ := json.Marshal(s); len(text) > 100<<10 {
			t.Errorf("%q: %d bytes", query, len(text))
		}
	}
	if got := state(t, c, "").Rows[0].Key; got != "tenant-07777" {
		t.Errorf("the first is %s", got)
	}
}

func TestPipelinesBeyondTheBoundAreCountedAndSaid(t *testing.T) {
	c := made(t, console.Config{MaxPipelines: 7})
	shown(t, c, touchy("first"), "1", "2", "3", "4", "5")
	shown(t, c, touchy("second"), "1", "2", "3", "4", "5")
	shown(t, c, touchy("third"), "1")
	if s := state(t, c, ""); s.Totals.Pipelines != 11 || s.Totals.NotSeen != 4 || len(s.Rows) != 7 {
		t.Errorf("%d rows of %+v", len(s.Rows), s.Totals)
	}
}

func TestLongNamesAreShownShortAndStillTold(t *testing.T) {
	c := made(t, console.Config{}, console.WithErrors(error.Error))
	key := strings.Repeat("ß", 5000) + "\xff"
	r := shown(t, c, touchy("payments"), key)
	for range 2 {
		_ = call(r, key, 0, fmt.Errorf("%s", strings.Repeat("x", 100_000)))
	}
	s := state(t, c, "")
	row := s.Rows[0]
	if len(row.Key) > 200 || !strings.HasSuffix(row.Key, "ß…") || len(s.Notices[0].Key) > 200 {
		t.Errorf("the key is %d bytes: %q", len(row.Key), row.Key[len(row.Key)-10:])
	}
	if len(s.Notices[0].Error) > 300 {
		t.Errorf("an error of %d bytes", len(s.Notices[0].Error))
	}
	if d := state(t, c, "id="+url.QueryEscape(row.ID)).Detail; d == nil || d.Level != "down" {
		t.Errorf("details: %+v", d)
	}
}

func TestAConsoleThatIsNotToldSaysSo(t *testing.T) {
	c := made(t, console.Config{})
	r, err := middleware.NewRegistry(touchy("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add("deaf", r); err != nil {
		t.Fatal(err)
	}
	_ = call(r, "host", 0, nil)
	if s := state(t, c, ""); s.Totals.Unheard != 1 || s.Rows[0].State.Breaker.Calls != 1 {
		t.Errorf("%+v", s.Totals)
	}
}

func TestRegistriesComeAndGo(t *testing.T) {
	c := made(t, console.Config{})
	r := shown(t, c, touchy("payments"), "host")
	if err := c.Add("payments", r); err == nil || !strings.Contains(err.Error(), `"payments" is taken`) {
		t.Errorf("twice: %v", err)
	}
	if err := c.Add("nothing", nil); err == nil {
		t.Error("nothing was added")
	}
	if err := c.AddPipeline("nothing", nil); err == nil {
		t.Error("nothing was added")
	}
	if got := len(state(t, c, "").Rows); got != 1 {
		t.Errorf("%d rows", got)
	}
	if !c.Remove("payments") || c.Remove("payments") {
		t.Error("it was not removed, or twice")
	}
	if got := len(state(t, c, "").Rows); got != 0 {
		t.Errorf("%d rows after its end", got)
	}
	if err := c.Add("payments", r); err != nil {
		t.Error(err)
	}
}

func TestAConfigurationTellsAllItsFaults(t *testing.T) {
	_, err := console.New(console.Config{
		Title: strings.Repeat("x", 101), Interval: time.Millisecond, PageSize: 501, MaxPipelines: -1, MaxKeys: -1, MaxWatchers: 10_001,
	})
	for _, path := range []string{"title", "interval", "page_size", "max_pipelines", "max_keys", "max_watchers"} {
		if err == nil || !strings.Contains(err.Error(), "console."+path+": ") {
			t.Errorf("no word of %s: %v", path, err)
		}
	}
}
