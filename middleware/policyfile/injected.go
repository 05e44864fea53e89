package policyfile

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/backstay-go/backstay/middleware"
)

// faults reads the faults of a target, which replace those of earlier layers.
func (l *layer) faults(e entry) []middleware.Fault {
	l.forgetItems("faults[")
	var all []middleware.Fault
	for i, n := range l.items(e.value) {
		item := "faults[" + strconv.Itoa(i) + "]"
		path := e.key.path + "[" + strconv.Itoa(i) + "]"
		var f middleware.Fault
		inner := layer{reader: l.reader, to: l.to, profile: l.profile, item: item + "."}
		l.to.origins[item] = origin{where(n, path), l.profile}
		if n.Kind != yaml.MappingNode {
			l.to.broken[item] = true
		}
		inner.fields(faultRoot, ofFault(&f).v, l.entries(n, path))
		all = append(all, f)
	}
	return all
}

// forgetItems drops where the values of a list came from.
func (l *layer) forgetItems(prefix string) {
	maps.DeleteFunc(l.to.origins, func(path string, _ origin) bool { return strings.HasPrefix(path, prefix) })
	maps.DeleteFunc(l.to.broken, func(path string, _ bool) bool { return strings.HasPrefix(path, prefix) })
}

// time reads a moment.
func (r rule) time(n *yaml.Node) (time.Time, *problem) {
	const example = "write a time with its zone, such as 2026-01-02T15:04:05Z"
	s, ok := scalar(n)
	if !ok {
		return time.Time{}, &problem{describe(n) + " is not a time", example}
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, &problem{quote(s) + " is not a time", example}
	}
	return at, nil
}

// pairs reads a mapping of names to texts.
func (r *reader) pairs(rule rule, e entry) map[string]string {
	all := make(map[string]string)
	for _, named := range r.entries(e.value, e.key.path) {
		t, wrong := rule.text(named.value)
		if wrong != nil {
			r.add(named.spot(), wrong.suggestion, "%s", wrong.reason)
			continue
		}
		all[named.name] = t
	}
	return all
}

// item returns the fault that a path such as faults[1].share leads into, and
// the rest of the path.
func (t *resolved) item(path string) (x values, rest string, ok bool) {
	index, found := strings.CutPrefix(path, "faults[")
	index, rest, inside := strings.Cut(index, "].")
	i, err := strconv.Atoi(index)
	if !found || !inside || err != nil || t.Target == nil || i >= len(t.Target.Faults) {
		return values{}, "", false
	}
	return ofFault(&t.Target.Faults[i]), rest, true
}

// ends refuses faults that a file does not end.
func (c checker) ends() {
	for i, f := range c.Target.Faults {
		if f.Until.IsZero() {
			c.fault(fmt.Sprintf("faults[%d].until", i), nil, "write when it ends, such as until: 2026-01-02T15:04:05Z", "until is missing: no fault of a file is for ever")
		}
	}
}
