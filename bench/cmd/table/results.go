package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The units of a benchmark line that the table is made of.
const (
	unitTime   = "ns/op"
	unitAllocs = "allocs/op"
)

// results are the values of all rounds, by benchmark and unit.
type results struct {
	order  []string // benchmarks as they ran
	values map[string]map[string][]float64
	cpu    string
}

func newResults() *results { return &results{values: map[string]map[string][]float64{}} }

// suffix is the number of processors that testing appends to a name.
var suffix = regexp.MustCompile(`-\d+$`)

// read adds the output of one round.
func (s *results) read(output io.Reader) error {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		line := lines.Text()
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			s.cpu = cpu
		}
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		if err := s.add(strings.Fields(line)); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
	return lines.Err()
}

// add takes the fields of a line: a name, how often it ran, values with units.
func (s *results) add(fields []string) error {
	if len(fields) < 4 || len(fields)%2 != 0 {
		return nil // the name alone, printed before a log line
	}
	name := suffix.ReplaceAllString(strings.TrimPrefix(fields[0], "Benchmark"), "")
	if s.values[name] == nil {
		s.values[name] = map[string][]float64{}
		s.order = append(s.order, name)
	}
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return err
		}
		unit := fields[i+1]
		s.values[name][unit] = append(s.values[name][unit], v)
	}
	return nil
}

// median returns the median over the rounds, and whether there was one.
func (s *results) median(name, unit string) (float64, bool) {
	values := slices.Sorted(slices.Values(s.values[name][unit]))
	if len(values) == 0 {
		return 0, false
	}
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle], true
	}
	return (values[middle-1] + values[middle]) / 2, true
}

// libraries returns the libraries measured in a case, in the order they ran.
func (s *results) libraries(of string) []string {
	var all []string
	for _, name := range s.order {
		if library, ok := strings.CutPrefix(name, of+"/"); ok && !strings.Contains(library, "/") {
			all = append(all, library)
		}
	}
	return all
}
