// Command scale says what an application of some size costs a Kafka cluster and
// each of its processes, by the rules of package actors/kafka and by figures
// measured with it. Without flags it prints the table of docs/scale.md.
//
//	go run ./cmd/scale -processes 50 -partitions 800 -brokers 3 -rate 20000
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// usual are the sizes of the table in the documentation.
var usual = []size{
	{processes: 3, partitions: 48, brokers: 3, rate: 5000, changed: 400},
	{processes: 20, partitions: 320, brokers: 3, rate: 20000, changed: 400},
	{processes: 100, partitions: 1000, brokers: 6, rate: 50000, changed: 400},
	{processes: 1000, partitions: 10000, brokers: 12, rate: 100000, changed: 400},
}

func main() {
	var s size
	flag.IntVar(&s.processes, "processes", 3, "processes that host actors")
	flag.IntVar(&s.partitions, "partitions", 48, "partitions of all types together")
	flag.IntVar(&s.brokers, "brokers", 3, "brokers")
	flag.IntVar(&s.rate, "rate", 5000, "calls a second, all together")
	flag.IntVar(&s.changed, "changed", 400, "bytes of cells that a call changes")
	flag.Parse()
	sizes := usual
	if flag.NFlag() > 0 {
		sizes = []size{s}
	}
	if err := s.check(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(2)
	}
	table(os.Stdout, sizes)
}

// table writes what the sizes cost, side by side, in Markdown.
func table(w io.Writer, sizes []size) {
	var lines []string
	for _, s := range sizes {
		for i, r := range s.rows() {
			if i == len(lines) {
				lines = append(lines, "| "+r.what+" |")
			}
			lines[i] += " " + r.figure + " |"
		}
	}
	fmt.Fprintln(w, lines[0])
	fmt.Fprintln(w, "|---"+strings.Repeat("|---:", len(sizes))+"|")
	fmt.Fprintln(w, strings.Join(lines[1:], "\n"))
}
