// Results reads what "go test -json" prints, tells what failed and how, one
// line a package otherwise, and appends "passed failed skipped" to the file
// that its argument names.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// event is one line of "go test -json"; see "go doc test2json".
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// tally counts ends of tests, and keeps what those still open have printed.
type tally struct {
	passed, failed, skipped int
	output                  map[string]*strings.Builder
	failures                map[string]int // failed tests of a package
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ./... | results FILE")
		os.Exit(2)
	}
	t := tally{output: map[string]*strings.Builder{}, failures: map[string]int{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		t.read(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		fatal(err)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	if err := t.save(os.Args[1]); err != nil {
		fatal(err)
	}
	if t.failed > 0 {
		os.Exit(1)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "results:", err)
	os.Exit(2)
}

func (t *tally) save(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, t.passed, t.failed, t.skipped)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

func (t *tally) read(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Printf("%s\n", line) // not from a test: the go command itself speaks
		return
	}
	switch e.Action {
	case "output":
		t.print(e.Package+" "+e.Test, e.Output)
	case "build-output":
		t.print("build "+e.ImportPath, e.Output)
	case "pass", "fail", "skip":
		t.end(e)
	}
}

func (t *tally) print(of, text string) {
	if t.output[of] == nil {
		t.output[of] = new(strings.Builder)
	}
	t.output[of].WriteString(text)
}

// end counts the end of a test, or of a package, which counts only where it
// failed without a failed test: a build, a panic, a time-out.
func (t *tally) end(e event) {
	id := e.Package + " " + e.Test
	switch {
	case e.Action == "fail" && e.Test == "":
		t.endOfFailedPackage(e)
	case e.Test == "":
		fmt.Printf("%-6s%s\t%.2fs\n", map[string]string{"pass": "ok", "skip": "-"}[e.Action], e.Package, e.Elapsed)
	case e.Action == "fail":
		t.failed++
		t.failures[e.Package]++
		t.show(id)
	case e.Action == "pass":
		t.passed++
	default:
		t.skipped++
	}
	delete(t.output, id)
}

func (t *tally) endOfFailedPackage(e event) {
	fmt.Printf("FAIL  %s\t%.2fs\n", e.Package, e.Elapsed)
	if t.failures[e.Package] > 0 {
		return
	}
	t.failed++
	t.show("build " + e.FailedBuild)
	t.show(e.Package + " ")
	for id := range t.output { // tests that were running when it ended
		if strings.HasPrefix(id, e.Package+" ") {
			t.show(id)
		}
	}
}

func (t *tally) show(id string) {
	if text := t.output[id]; text != nil {
		fmt.Print(text.String())
	}
}
