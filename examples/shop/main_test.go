package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

// TestMain has the runtime listen to signals, which it cannot begin to do in
// virtual time.
func TestMain(m *testing.M) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	signal.Stop(hangup)
	os.Exit(m.Run())
}

// day is a round as the program plays it, in virtual time.
func day(t *testing.T, o options) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		if err := run(t.Context(), &out, new(memory), o); err != nil {
			t.Error(err)
		}
	})
	return out.String()
}

func TestTheShopSurvivesItsDay(t *testing.T) {
	out := day(t, options{long: most, rate: 20})
	for _, line := range []string{
		`(?m)^inventory +\d+ +\d+ +1\.[012]\d +0 +[1-9]\d* +0 +[1-9]\d* closed`, // refused, and opened
		`(?m)^payments +\d+ +\d+ +1\.[012]\d +0 +[1-9]\d* +0 +[1-9]\d* closed`,
		`(?m)^search +\d+ +\d+ +1\.[012]\d +[1-9]\d* +\d+ +[1-9]\d* +[1-9]\d* closed`, // copies, and stale answers
		`policies.yaml: inventory has other policies`,
		`given again under their keys: front [1-9]\d*, inventory [1-9]\d*, payments [1-9]`,
		`orders: [1-9]\d* placed, [1-9]`,
	} {
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("there is no line %s", line)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestADayOnLoopbackLeavesNothingBehind(t *testing.T) {
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := run(ctx, &out, new(loopback), options{long: most, rate: 100}); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	nothingIsLeft(t)
}

func TestQuietPrintsTheSummaryAlone(t *testing.T) {
	out := day(t, options{long: time.Second, rate: 10, quiet: true})
	if strings.Contains(out, script[0].title) || !strings.Contains(out, "orders: ") {
		t.Error(out)
	}
}

func TestOperatorsSeeConsoleAndMetrics(t *testing.T) {
	s, err := open(t.Context(), new(loopback), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
		nothingIsLeft(t)
	}()
	var out bytes.Buffer
	if err := s.show(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	s.customers.ask("order-that-nobody-placed")
	for _, c := range []struct{ line, says string }{
		{"console", "<title>Shop</title>"},
		{"metrics", `backstay_attempts_total{`},
	} {
		url := regexp.MustCompile(c.line + ` +(\S+)`).FindStringSubmatch(out.String())
		if url == nil {
			t.Fatalf("%s is nowhere:\n%s", c.line, &out)
		}
		if text := get(t, url[1], ""); !strings.Contains(text, c.says) {
			t.Errorf("%s does not say %q:\n%s", url[1], c.says, text)
		}
		if text := get(t, url[1], "evil.example"); !strings.Contains(text, "is not this machine") {
			t.Errorf("%s answers another host: %s", url[1], text)
		}
	}
}

func get(t *testing.T, url, host string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	var network http.Transport
	defer network.CloseIdleConnections()
	resp, err := network.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestThePoliciesAreMeant(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", policies)
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range p.Notes() {
		t.Error(note)
	}
	for _, a := range script {
		edited := strings.Replace(string(policies), a.was, a.is, 1)
		if a.was != "" && edited == string(policies) {
			t.Errorf("%q is not in the file", a.was)
		}
		if _, err := policyfile.Parse("policies.yaml", []byte(edited)); err != nil {
			t.Error(err)
		}
	}
}

func TestTheFaultsOfTheFileJoinThoseOfTheScript(t *testing.T) {
	f, err := newFaults(middleware.Target{Name: "search"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := late(time.Second)
	file[0].Name = "drill"
	for _, step := range []struct {
		do   func() error
		want int
	}{
		{func() error { return f.play(always(middleware.FaultReset)) }, 1},
		{func() error { return f.Apply(middleware.Target{Faults: file}) }, 2},
		{func() error { return f.play(nil) }, 1},
		{func() error { return f.Apply(middleware.Target{}) }, 0},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := f.injector.Faults(); len(got) != step.want {
			t.Errorf("got %v, want %d", got, step.want)
		}
	}
}
