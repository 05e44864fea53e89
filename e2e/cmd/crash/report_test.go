package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// docs is the folder of the page that shows what was measured.
const docs = "../../../docs"

// If this fails: go run ./cmd/crash report ../docs/crash/single.jsonl
// ../docs/img, and put what it says into the page; so for the other files, but
// for the figures.
func TestThePageSaysWhatWasMeasured(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "crash.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(docs, "crash", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no results: %v", err)
	}
	dir := t.TempDir()
	for _, file := range files {
		figures := t.TempDir()
		if filepath.Base(file) == "single.jsonl" {
			figures = dir
		}
		var told bytes.Buffer
		if err := report(file, figures, &told); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(page, told.Bytes()) {
			t.Errorf("the page is out of step with\n%s", &told)
		}
	}
	for _, name := range []string{"crash-outages.svg", "crash-orders.svg"} {
		shown, err := os.ReadFile(filepath.Join(docs, "img", name))
		drawn, err2 := os.ReadFile(filepath.Join(dir, name))
		if err != nil || err2 != nil || !bytes.Equal(shown, drawn) {
			t.Errorf("%s is out of step: %v, %v", name, err, err2)
		}
	}
}

func TestAReportNamesWhatMustNotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	for n, r := range []result{
		{Mode: "single", Outage: time.Second},
		{Mode: "single", Outage: 4 * time.Second, Last: "order/2"},
		{Mode: "paired", Outage: 2 * time.Second, Faults: []string{"beat 3 came after beat 1"}},
		{Mode: "total", Outage: 8 * time.Second},
		{Mode: "broker", Outage: 7 * time.Second, Last: "depot/1"},
	} {
		r.Number = n + 1
		if err := keep(file, r); err != nil {
			t.Fatal(err)
		}
	}
	var told bytes.Buffer
	if err := report(file, t.TempDir(), &told); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### single: 2", "| outage | 1000 ms | 4000 ms | 4000 ms | 22 s", "failure 2 (single) took 4000 ms: order/2",
		"failure 3 (paired): beat 3 came after beat 1", "failure 5 (broker) took 7000 ms: depot/1",
		"5 results; 1 with a fault; 2 with an outage of more than 3 s, of mode broker of more than 6 s, of mode total of more than 9 s.",
	} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &told)
		}
	}
}

func TestAFileOfResultsIsGoneOnWith(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	if all, err := read(file); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	r := result{Number: 1, Mode: "single", Orders: []sample{{-time.Second, time.Millisecond}}}
	if err := keep(file, r); err != nil {
		t.Fatal(err)
	}
	all, err := read(file)
	have, _ := json.Marshal(all)
	want, _ := json.Marshal([]result{r})
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("read %s, %v", have, err)
	}
	if err := (&run{settings: settings{out: file, failures: 3}}).all(t.Context(), t.Output()); err == nil {
		t.Error("a file that has results is written to without -resume")
	}
}
