package policyfile

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// problem is why a value cannot be taken.
type problem struct {
	reason, suggestion string
}

// measure returns the number that n stands for under r, as it is in a Config.
func (r rule) measure(n *yaml.Node) (float64, *problem) {
	s, ok := scalar(n)
	if !ok {
		return 0, &problem{describe(n) + " is not " + r.noun(), "write " + r.allowed()}
	}
	if v, ok := r.names[s]; ok {
		return v, nil
	}
	v, wrong := r.parse(s)
	switch {
	case wrong != nil:
		return 0, wrong
	case !r.admits(v):
		return 0, &problem{quote(s) + " is not allowed", r.instead(v)}
	}
	return r.value(v), nil
}

// instead says what to write in place of v, which is out of bounds.
func (r rule) instead(v float64) string {
	s := "must be " + r.allowed()
	if _, switchable := r.names[off]; switchable && v <= 0 {
		return "write off to switch it off; else it must be " + r.bounds()
	}
	if r.kind == share && v > 1 && v <= 100 {
		return "did you mean " + trim(v) + "%? " + s
	}
	return s
}

// noun is what r wants to see.
func (r rule) noun() string {
	switch r.kind {
	case duration:
		return "a duration"
	case count:
		return "a whole number"
	case size:
		return "a number of bytes"
	case share:
		return "a share"
	case flag:
		return "true or false"
	case number:
		return "a number"
	default:
		return "a text"
	}
}

// parse reads a number as it is written.
func (r rule) parse(s string) (float64, *problem) {
	switch r.kind {
	case duration:
		return r.parseDuration(s)
	case count:
		return r.parseCount(s)
	case size:
		return r.parseSize(s)
	case share:
		return r.parseShare(s)
	default:
		return r.parseNumber(s)
	}
}

func (r rule) parseDuration(s string) (float64, *problem) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return float64(d), nil
	}
	if f, ok := decimal(s); ok {
		return 0, &problem{quote(s) + " has no unit", "did you mean " + trim(f) + "ms, or " + trim(f) + "s?"}
	}
	if fixed, err := time.ParseDuration(strings.ToLower(strings.ReplaceAll(s, " ", ""))); err == nil {
		return 0, &problem{quote(s) + " is not a duration", "did you mean " + writeDuration(fixed) + "?"}
	}
	return 0, r.neither(s, "such as 250ms, 2s or 1m30s; units are ns, us, ms, s, m, h")
}

func (r rule) parseCount(s string) (float64, *problem) {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil {
		return 0, r.neither(s, r.allowed())
	}
	return float64(n), nil
}

func (r rule) parseSize(s string) (float64, *problem) {
	for _, unit := range sizes {
		if digits, ok := strings.CutSuffix(s, unit.unit); ok {
			if f, ok := decimal(strings.TrimSpace(digits)); ok && f*unit.bytes == math.Trunc(f*unit.bytes) {
				return f * unit.bytes, nil
			}
			return 0, r.neither(s, "such as 65536 or 64KiB")
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil {
		return 0, r.neither(s, "such as 65536 or 64KiB")
	}
	return float64(n), nil
}

func (r rule) parseShare(s string) (float64, *problem) {
	digits, percent := strings.CutSuffix(s, "%")
	f, ok := decimal(strings.TrimSpace(digits))
	switch {
	case !ok:
		return 0, r.neither(s, "such as 20% or 0.2")
	case percent:
		return f / 100, nil
	default:
		return f, nil
	}
}

func (r rule) parseNumber(s string) (float64, *problem) {
	f, ok := decimal(s)
	if !ok {
		return 0, r.neither(s, r.allowed())
	}
	return f, nil
}

// neither says that s is not what r wants, nor one of its names.
func (r rule) neither(s, example string) *problem {
	if name, ok := nearest(s, r.words()); ok {
		return &problem{quote(s) + " is not " + r.noun(), "did you mean " + name + "?"}
	}
	return &problem{quote(s) + " is not " + r.noun(), "write " + r.noun() + ", " + example}
}

// decimal reads a finite number in decimal notation.
func decimal(s string) (float64, bool) {
	if strings.ContainsAny(s, "xXpPiInN_") { // neither hexadecimal nor infinite
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func trim(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// flag returns what n says, which must be true or false.
func (r rule) flag(n *yaml.Node) (bool, *problem) {
	s, ok := scalar(n)
	if ok && (s == "true" || s == "false") && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		return s == "true", nil
	}
	p := &problem{describe(n) + " is not true or false", "write true or false"}
	switch strings.ToLower(s) {
	case "true", "yes", "on", "y":
		p.suggestion = "write true"
	case "false", "no", "off", "n":
		p.suggestion = "write false"
	}
	return false, p
}

// text returns what n says, which must be one of the choices.
func (r rule) text(n *yaml.Node) (string, *problem) {
	s, ok := scalar(n)
	switch {
	case !ok || s == "":
		return "", &problem{describe(n) + " is not a text", "write " + r.bounds()}
	case r.choices != nil && !slices.Contains(r.choices, s):
		return "", &problem{quote(s) + " is not known", suggest(s, r.choices)}
	}
	return s, nil
}

// toInt returns n as an int64, the nearest one if it is beyond them.
func toInt(n float64) int64 {
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}
