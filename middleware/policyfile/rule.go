package policyfile

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind is how a value is written.
type kind int

const (
	section   kind = iota // a mapping of values
	duration              // 250ms
	count                 // 3
	size                  // 64KiB
	share                 // 20%, or 0.2
	number                // 1.5
	flag                  // true
	text                  // GET
	texts                 // [GET, HEAD]
	moment                // 2026-01-02T15:04:05Z
	pairs                 // {name: text}
	faultList             // a sequence of faults
)

// off is the name that switches off what can be switched off.
const off = "off"

// rule is what may be written for one value, and what it means. Bounds are in
// nanoseconds, bytes or plain numbers.
type rule struct {
	kind     kind
	about    string
	standard string // what counts where nothing is written, as a file would say it
	low      float64
	above    bool // low itself is not allowed
	high     float64
	below    bool               // high itself is not allowed
	names    map[string]float64 // what has a name, and what it is in a Config
	zero     *float64           // what 0 is in a Config; nil: as it is
	choices  []string           // the texts there are; nil: any
	short    string             // of a section: the value that may stand in its place
}

func span(low, high time.Duration, standard, about string) rule {
	return rule{kind: duration, low: float64(low), high: float64(high), standard: standard, about: about}
}

func whole(low, high float64, standard, about string) rule {
	return rule{kind: count, low: low, high: high, standard: standard, about: about}
}

func octets(low, high float64, standard, about string) rule {
	return rule{kind: size, low: low, high: high, standard: standard, about: about}
}

func part(standard, about string) rule {
	return rule{kind: share, low: 0, above: true, high: 1, standard: standard, about: about}
}

func factor(low, high float64, standard, about string) rule {
	return rule{kind: number, low: low, high: high, standard: standard, about: about}
}

func yesNo(about string) rule { return rule{kind: flag, standard: "false", about: about} }

func word(standard, about string, choices ...string) rule {
	return rule{kind: text, standard: standard, about: about, choices: choices}
}

func words(standard, about string, choices ...string) rule {
	return rule{kind: texts, standard: standard, about: about, choices: choices}
}

// orNamed lets a file write name for v.
func (r rule) orNamed(name string, v float64) rule {
	r.names = maps.Clone(r.names)
	if r.names == nil {
		r.names = make(map[string]float64)
	}
	r.names[name] = v
	return r
}

// orOff lets a file write off for v.
func (r rule) orOff(v float64) rule { return r.orNamed(off, v) }

// zeroIs lets a file write 0 where a Config, whose 0 is the default, has to
// say v.
func (r rule) zeroIs(v float64) rule {
	r.low, r.above, r.zero = 0, false, &v
	return r
}

// admits reports whether v is within the bounds.
func (r rule) admits(v float64) bool {
	return (v > r.low || v == r.low && !r.above) && (v < r.high || v == r.high && !r.below)
}

// value returns what v, as it was written, is in a Config.
func (r rule) value(v float64) float64 {
	if v == 0 && r.zero != nil {
		return *r.zero
	}
	return v
}

// words returns the names that a file may write, in order.
func (r rule) words() []string { return slices.Sorted(maps.Keys(r.names)) }

// allowed says what may be written.
func (r rule) allowed() string {
	return strings.Join(append([]string{r.bounds()}, r.words()...), ", or ")
}

func (r rule) bounds() string {
	switch {
	case r.kind == flag:
		return "true or false"
	case r.choices != nil:
		return "one of " + strings.Join(r.choices, ", ")
	case r.kind == text, r.kind == texts:
		return "a text"
	default:
		return r.interval()
	}
}

// interval says between which numbers a value must be.
func (r rule) interval() string {
	unbounded := r.high >= math.MaxInt32 && r.kind != duration || r.high == math.MaxInt64
	switch {
	case unbounded && r.kind == duration && r.low == 1:
		return "above 0s"
	case unbounded:
		return "at least " + r.write(r.low)
	case r.above && r.below:
		return "above " + r.write(r.low) + " and below " + r.write(r.high)
	case r.above:
		return "above " + r.write(r.low) + " and at most " + r.write(r.high)
	default:
		return "from " + r.write(r.low) + " to " + r.write(r.high)
	}
}

// write returns v, of a Config, as a file would say it.
func (r rule) write(v float64) string {
	for _, name := range r.words() {
		if r.names[name] == v {
			return name
		}
	}
	if r.zero != nil && v == *r.zero {
		v = 0
	}
	switch r.kind {
	case duration:
		return writeDuration(time.Duration(v))
	case share:
		return strconv.FormatFloat(roundShare(v*100), 'f', -1, 64) + "%"
	case size:
		return writeSize(v)
	case count:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// roundShare takes off what the multiplication by 100 adds: 0.07 is 7%.
func roundShare(percent float64) float64 { return math.Round(percent*1e9) / 1e9 }

// writeDuration is Duration.String without zero parts: 1m, not 1m0s.
func writeDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var sizes = []struct {
	unit  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}}

func writeSize(v float64) string {
	for _, s := range sizes[:3] {
		if v >= s.bytes && math.Mod(v, s.bytes) == 0 {
			return strconv.FormatFloat(v/s.bytes, 'f', -1, 64) + s.unit
		}
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
