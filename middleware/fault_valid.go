package middleware

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/wire"
)

// ValidateFaults returns every fault of the configuration of all at once, each
// a [backstay.FieldError] with a path such as "faults[1].share".
func ValidateFaults(all []Fault) error {
	var found []error
	first := make(map[string]int)
	for i := range all {
		at := fmt.Sprintf("faults[%d]", i)
		found = append(found, backstay.Under(at, all[i].Validate()))
		name := all[i].Name
		if other, taken := first[name]; taken && name != "" {
			found = append(found, backstay.Under(at, backstay.Check(backstay.Setting{
				Path: "name", Value: strconv.Quote(name),
				Allowed: fmt.Sprintf("faults[%d] has that name already", other),
			})))
		} else {
			first[name] = i
		}
	}
	return errors.Join(found...)
}

// Validate returns everything that is wrong with f at once, each a
// [backstay.FieldError]. A fault whose time is over is valid.
func (f Fault) Validate() error {
	return errors.Join(
		backstay.Check(slices.Concat(f.generalRules(), f.answerRules())...),
		backstay.Under("match", f.Match.validate()),
		backstay.Under("latency", f.Latency.validate(f.Kind == FaultLatency)),
	)
}

func (f Fault) generalRules() []backstay.Setting {
	return []backstay.Setting{
		{
			Path: "name", Value: strconv.Quote(f.Name), Valid: isName(f.Name),
			Allowed: "must be 1 to 64 letters, digits, dots, dashes or underscores",
		},
		{
			Path: "kind", Value: strconv.Quote(string(f.Kind)), Valid: slices.Contains(FaultKinds(), f.Kind),
			Allowed: "must be one of " + listed(FaultKinds()),
		},
		{
			Path: "share", Value: f.Share, Valid: f.Share > 0 && f.Share <= 1, // false for NaN
			Allowed: "must be above 0 and at most 1",
		},
		{
			Path: "until", Value: f.Until.Format(time.RFC3339), Valid: f.Until.IsZero() || f.Until.After(f.From),
			Allowed: "must be after from",
		},
	}
}

// answerRules are those about what only some kinds of faults need.
func (f Fault) answerRules() []backstay.Setting {
	answers, cuts := f.Kind == FaultStatus, f.Kind == FaultTruncated || f.Kind == FaultStalled
	return []backstay.Setting{
		{
			Path: "message", Value: strconv.Quote(f.Message), Valid: f.Message == "" || f.Kind == FaultError,
			Allowed: "belongs to the kind error alone",
		},
		{
			Path: "status", Value: f.Status, Valid: answers || f.Status == 0,
			Allowed: "belongs to the kind status alone",
		},
		{
			Path: "status", Value: f.Status, Valid: !answers || f.Status >= 200 && f.Status <= 599,
			Allowed: "must be an HTTP status from 200 to 599",
		},
		{
			Path: "headers", Value: slices.Sorted(maps.Keys(f.Headers)), Valid: answers || len(f.Headers) == 0,
			Allowed: "belong to the kind status alone",
		},
		{
			Path: "headers", Value: slices.Sorted(maps.Keys(f.Headers)), Valid: areHeaders(f.Headers),
			Allowed: "must have the names of headers, and values of one line",
		},
		{
			Path: "body", Value: fmt.Sprintf("of %d bytes", len(f.Body)),
			Valid:   f.Body == "" || answers && f.Status != http.StatusNoContent && f.Status != http.StatusNotModified,
			Allowed: "belongs to the kind status alone, and not to 204 and 304",
		},
		{
			Path: "after", Value: f.After, Valid: f.After >= 0 && (cuts || f.After == 0),
			Allowed: "must not be negative, and belongs to the kinds truncated and stalled alone",
		},
	}
}

func (m FaultMatch) validate() error {
	rules := []backstay.Setting{
		{
			Path: "host", Value: strconv.Quote(m.Host), Valid: !strings.ContainsAny(strings.TrimPrefix(m.Host, "*."), "*/@?# "),
			Allowed: "must be a host as it stands in a URL, or *.example.com for all below it",
		},
		{
			Path: "route", Value: strconv.Quote(m.Route), Valid: m.Route == "" || isRoute(m.Route),
			Allowed: "must begin with /; {name} stands for a whole segment, {name...} at the end for all that follow",
		},
		{
			Path: "header", Value: strconv.Quote(m.Header), Valid: !strings.ContainsFunc(m.Header, notInName),
			Allowed: "must be the name of a header",
		},
		{
			Path: "value", Value: strconv.Quote(m.Value), Valid: m.Value == "" || m.Header != "",
			Allowed: "needs a header",
		},
	}
	for i, method := range m.Methods {
		rules = append(rules, backstay.Setting{
			Path: fmt.Sprintf("method[%d]", i), Value: strconv.Quote(method),
			Valid:   method != "" && method == strings.ToUpper(method) && !strings.ContainsAny(method, " \t/"),
			Allowed: "must be an HTTP method such as GET",
		})
	}
	return backstay.Check(rules...)
}

// latencies says what each distribution needs.
var latencies = map[string]struct{ mean, deviation, bounds bool }{
	"":                 {mean: true},
	LatencyFixed:       {mean: true},
	LatencyUniform:     {bounds: true},
	LatencyNormal:      {mean: true, deviation: true, bounds: true},
	LatencyExponential: {mean: true, bounds: true},
}

func (l Latency) validate(required bool) error {
	if l == (Latency{}) && !required {
		return nil
	}
	has, known := latencies[l.Distribution]
	if !known {
		return backstay.Check(backstay.Setting{
			Path: "distribution", Value: strconv.Quote(l.Distribution),
			Allowed: "must be one of fixed, uniform, normal, exponential",
		})
	}
	return backstay.Check(
		backstay.Setting{
			Path: "mean", Value: l.Mean, Valid: has.mean == (l.Mean != 0) && isLatency(l.Mean),
			Allowed: "must be above 0 and at most 1h; a uniform latency has none",
		},
		backstay.Setting{
			Path: "deviation", Value: l.Deviation, Valid: has.deviation == (l.Deviation != 0) && isLatency(l.Deviation),
			Allowed: "must be above 0 and at most 1h for a normal latency; others have none",
		},
		backstay.Setting{
			Path: "min", Value: l.Min, Valid: l.Min == 0 || has.bounds && l.Min > 0 && (!has.mean || l.Min <= l.Mean),
			Allowed: "must be from 0 to the mean; a fixed latency has none",
		},
		backstay.Setting{
			Path: "max", Value: l.Max, Valid: l.Max == 0 && has.mean || has.bounds && l.Max > l.Min && l.Max >= l.Mean && isLatency(l.Max),
			Allowed: "must be above min, not below the mean, and at most 1h; a fixed latency has none, a uniform one needs it",
		},
	)
}

func isLatency(d time.Duration) bool { return d >= 0 && d <= MaxFaultLatency }

// isName reports whether s can name something in telemetry.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool { return r != '.' && notInName(r) })
}

// isRoute reports whether s is a path whose segments are literal, {name}, or at
// the end {name...}.
func isRoute(s string) bool {
	path, ok := strings.CutPrefix(s, "/")
	if !ok || strings.ContainsAny(s, "?#* ") {
		return false
	}
	segments := strings.Split(path, "/")
	last := len(segments) - 1
	for i, segment := range segments {
		if strings.ContainsAny(segment, "{}") && !isParameter(segment, i == last) {
			return false
		}
	}
	return true
}

// isParameter reports whether a segment is {name}, or {name...} where that may
// stand.
func isParameter(segment string, last bool) bool {
	name, opened := strings.CutPrefix(segment, "{")
	name, closed := strings.CutSuffix(name, "}")
	if last {
		name = strings.TrimSuffix(name, "...")
	}
	return opened && closed && name != "" && !strings.ContainsAny(name, "{}.")
}

func areHeaders(all map[string]string) bool {
	for name, value := range all {
		if name == "" || strings.ContainsFunc(name, notInName) || strings.ContainsFunc(value, wire.IsControl) {
			return false
		}
	}
	return true
}

func listed(kinds []FaultKind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}
