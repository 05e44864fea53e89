package middleware_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
)

func aFault(change func(*middleware.Fault)) middleware.Fault {
	f := middleware.Fault{Name: "down", Kind: middleware.FaultRefused, Share: 0.1}
	if change != nil {
		change(&f)
	}
	return f
}

func kind(k middleware.FaultKind) func(*middleware.Fault) {
	return func(f *middleware.Fault) { f.Kind = k }
}

func latency(l middleware.Latency) func(*middleware.Fault) {
	return func(f *middleware.Fault) { f.Kind, f.Latency = middleware.FaultLatency, l }
}

func route(s string) func(*middleware.Fault) {
	return func(f *middleware.Fault) { f.Match.Route = s }
}

func TestFaultsThatAreValid(t *testing.T) {
	later := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, change := range map[string]func(*middleware.Fault){
		"one of few words":  nil,
		"one for all calls": func(f *middleware.Fault) { f.Share = 1 },
		"one that is over":  func(f *middleware.Fault) { f.Until = time.Unix(1, 0) },
		"one with both its ends": func(f *middleware.Fault) {
			f.From, f.Until = later, later.Add(1)
		},
		"one for few": func(f *middleware.Fault) {
			f.Match = middleware.FaultMatch{Host: "*.example.com", Methods: []string{"GET"}, Route: "/v1/{id}", Header: "X-Chaos", Value: "on"}
		},
		"all that follows":          route("/static/{rest...}"),
		"everything":                route("/{rest...}"),
		"the root":                  route("/"),
		"a gRPC method":             route("/inventory.v1.Stock/Get"),
		"a refusal that takes time": func(f *middleware.Fault) { f.Latency.Mean = time.Second },
		"an error":                  func(f *middleware.Fault) { f.Kind, f.Message = middleware.FaultError, "boom" },
		"an answer": func(f *middleware.Fault) {
			f.Kind, f.Status, f.Body = middleware.FaultStatus, 503, "later"
			f.Headers = map[string]string{"Retry-After": "2"}
		},
		"a short body":            func(f *middleware.Fault) { f.Kind, f.After = middleware.FaultTruncated, 100 },
		"a silent body":           kind(middleware.FaultStalled),
		"a black hole":            kind(middleware.FaultBlackHole),
		"a fixed wait":            latency(middleware.Latency{Mean: time.Second}),
		"a uniform wait":          latency(middleware.Latency{Distribution: "uniform", Min: 1, Max: time.Hour}),
		"a normal wait":           latency(middleware.Latency{Distribution: "normal", Mean: 5, Deviation: 3, Min: 5, Max: 5000}),
		"a wait with a long tail": latency(middleware.Latency{Distribution: "exponential", Mean: time.Second}),
	} {
		if err := aFault(change).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaultsThatAreNot(t *testing.T) {
	for path, all := range map[string][]func(*middleware.Fault){
		"name": {
			func(f *middleware.Fault) { f.Name = "" },
			func(f *middleware.Fault) { f.Name = "a b" },
			func(f *middleware.Fault) { f.Name = strings.Repeat("x", 65) },
		},
		"kind": {kind(""), kind("fire")},
		"share": {
			func(f *middleware.Fault) { f.Share = 0 },
			func(f *middleware.Fault) { f.Share = -0.1 },
			func(f *middleware.Fault) { f.Share = 1.1 },
			func(f *middleware.Fault) { f.Share = math.NaN() },
		},
		"until":   {func(f *middleware.Fault) { f.From = time.Unix(10, 0); f.Until = f.From }},
		"message": {func(f *middleware.Fault) { f.Message = "boom" }},
		"status": {
			kind(middleware.FaultStatus),
			func(f *middleware.Fault) { f.Status = 503 },
			func(f *middleware.Fault) { f.Kind, f.Status = middleware.FaultStatus, 101 },
			func(f *middleware.Fault) { f.Kind, f.Status = middleware.FaultStatus, 600 },
		},
		"headers": {
			func(f *middleware.Fault) { f.Headers = map[string]string{"A": "b"} },
			func(f *middleware.Fault) { f.Kind, f.Status, f.Headers = "status", 500, map[string]string{"A b": "c"} },
			func(f *middleware.Fault) { f.Kind, f.Status, f.Headers = "status", 500, map[string]string{"": "c"} },
			func(f *middleware.Fault) {
				f.Kind, f.Status, f.Headers = "status", 500, map[string]string{"A": "b\r\nC: d"}
			},
		},
		"body": {
			func(f *middleware.Fault) { f.Body = "x" },
			func(f *middleware.Fault) { f.Kind, f.Status, f.Body = "status", 204, "x" },
		},
		"after": {
			func(f *middleware.Fault) { f.After = 1 },
			func(f *middleware.Fault) { f.Kind, f.After = middleware.FaultStalled, -1 },
		},
		"match.host":      {func(f *middleware.Fault) { f.Match.Host = "http://x" }, func(f *middleware.Fault) { f.Match.Host = "a.*" }},
		"match.method[0]": {func(f *middleware.Fault) { f.Match.Methods = []string{"get"} }, func(f *middleware.Fault) { f.Match.Methods = []string{""} }},
		"match.route": {
			route("v1"), route("/a?b"), route("/{"), route("/{}"), route("/a{b}"), route("/{a}b"),
			route("/{a...}/b"), route("/{...}"), route("/{a{b}"), route("/*"),
		},
		"match.header":         {func(f *middleware.Fault) { f.Match.Header = "X Chaos" }},
		"match.value":          {func(f *middleware.Fault) { f.Match.Value = "on" }},
		"latency.distribution": {latency(middleware.Latency{Distribution: "zipf", Mean: 1})},
		"latency.mean": {
			kind(middleware.FaultLatency),
			latency(middleware.Latency{Mean: -1}),
			latency(middleware.Latency{Mean: 2 * time.Hour}),
			latency(middleware.Latency{Distribution: "uniform", Mean: 1, Max: 2}),
		},
		"latency.deviation": {
			latency(middleware.Latency{Mean: 1, Deviation: 1}),
			latency(middleware.Latency{Distribution: "normal", Mean: 1}),
		},
		"latency.min": {
			latency(middleware.Latency{Mean: 2, Min: 1}),
			latency(middleware.Latency{Distribution: "exponential", Mean: 1, Min: 2}),
			latency(middleware.Latency{Distribution: "uniform", Min: -1, Max: 2}),
		},
		"latency.max": {
			latency(middleware.Latency{Mean: 2, Max: 3}),
			latency(middleware.Latency{Distribution: "uniform", Min: 1}),
			latency(middleware.Latency{Distribution: "uniform", Min: 2, Max: 2}),
			latency(middleware.Latency{Distribution: "exponential", Mean: 2, Max: 1}),
			latency(middleware.Latency{Distribution: "exponential", Mean: 2, Max: 2 * time.Hour}),
		},
	} {
		for i, change := range all {
			err := aFault(change).Validate()
			if err == nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %d: got %v", path, i, err)
			}
		}
	}
}

func TestEverythingWrongWithFaultsIsToldAtOnce(t *testing.T) {
	err := middleware.ValidateFaults([]middleware.Fault{
		aFault(nil),
		{},
		aFault(func(f *middleware.Fault) { f.Match.Route, f.Latency.Min = "x", -1 }),
	})
	for _, path := range []string{
		"faults[1].name: ", "faults[1].kind: ", "faults[1].share: ",
		"faults[2].match.route: ", "faults[2].latency.mean: ", "faults[2].latency.min: ",
		`faults[2].name: "down" is not allowed: faults[0] has that name already`,
	} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is not in:\n%v", path, err)
		}
	}
	if err := middleware.ValidateFaults(nil); err != nil {
		t.Error(err)
	}
}

func TestAFaultIsActiveBetweenItsEnds(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		from, until time.Time
		want        bool
	}{
		{time.Time{}, time.Time{}, true},
		{at, time.Time{}, true},
		{at.Add(1), time.Time{}, false},
		{time.Time{}, at.Add(1), true},
		{time.Time{}, at, false},
	} {
		f := middleware.Fault{From: c.from, Until: c.until}
		if got := f.Active(at); got != c.want {
			t.Errorf("from %v until %v: %v", c.from, c.until, got)
		}
	}
}

func TestAFaultSurvivesJSON(t *testing.T) {
	f := middleware.Fault{
		Name: "slow", Kind: middleware.FaultStatus, Share: 0.25,
		Match:   middleware.FaultMatch{Host: "a", Methods: []string{"GET"}, Route: "/", Header: "H", Value: "v"},
		From:    time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
		Until:   time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC),
		Latency: middleware.Latency{Distribution: "normal", Mean: 3, Deviation: 2, Min: 1, Max: 9},
		Status:  503, Headers: map[string]string{"Retry-After": "2"}, Body: "later",
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var got middleware.Fault
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(f, got) {
		t.Errorf("%s\n%v\n%+v", text, err, got)
	}
	if text, _ := json.Marshal(aFault(nil)); string(text) != `{"name":"down","kind":"refused","share":0.1}` {
		t.Errorf("a short one is %s", text)
	}
}

func TestTheBoundsOfALatency(t *testing.T) {
	for _, c := range []struct {
		l              middleware.Latency
		shortest, most time.Duration
	}{
		{middleware.Latency{}, 0, 0},
		{middleware.Latency{Mean: 3}, 3, 3},
		{middleware.Latency{Distribution: "uniform", Min: 1, Max: 3}, 1, 3},
		{middleware.Latency{Distribution: "normal", Mean: 3, Deviation: 1}, 0, 30},
		{middleware.Latency{Distribution: "exponential", Mean: time.Hour}, 0, time.Hour},
	} {
		if shortest, most := c.l.Bounds(); shortest != c.shortest || most != c.most {
			t.Errorf("%+v: %v to %v", c.l, shortest, most)
		}
	}
}
