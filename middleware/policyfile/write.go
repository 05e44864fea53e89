package policyfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Write writes p as a policy file in YAML: each target with all that it comes
// to, extending none. Comments and profiles of the file that p was read from
// are not in it. The error is that of w.
func (p *Policies) Write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("version: 1\n")
	if p.server != nil {
		b.WriteString("server:\n  extends: none\n")
		writer{&b}.fields(p.server.values, serverRoot, "  ")
	}
	if len(p.targets) > 0 {
		b.WriteString("targets:\n")
	}
	for _, name := range p.Names() {
		fmt.Fprintf(&b, "  %s:\n    extends: none\n", written(name))
		writer{&b}.patterns(p.defined[name].patterns)
		writer{&b}.fields(p.targets[name].values, root, "    ")
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("policyfile: %w", err)
	}
	return nil
}

// writer writes lines of YAML.
type writer struct{ *bytes.Buffer }

// patterns writes which requests a target is for.
func (w writer) patterns(all []pattern) {
	if len(all) > 0 {
		fmt.Fprintf(w, "    match:\n")
	}
	for _, p := range all {
		var parts []string
		host := p.host
		if p.port != "" {
			host += ":" + p.port
		}
		if host != "*" || p.service == "" && p.route == nil && p.methods == nil {
			parts = append(parts, "host: "+written(host))
		}
		if p.methods != nil {
			parts = append(parts, "method: "+writtenList(p.methods))
		}
		if p.route != nil {
			parts = append(parts, "route: "+written("/"+strings.Join(p.route, "/")))
		}
		if p.service != "" {
			parts = append(parts, "grpc: "+written(strings.TrimSuffix(p.grpcName(), "/*")))
		}
		fmt.Fprintf(w, "      - {%s}\n", strings.Join(parts, ", "))
	}
}

// fields writes what is set of s.
func (w writer) fields(x values, s *shape, indent string) {
	for _, f := range s.fields {
		v := x.in(f)
		switch {
		case f.toggle != nil && v.FieldByIndex(f.toggle).Bool():
			fmt.Fprintf(w, "%s%s: off\n", indent, f.name)
		case v.IsZero():
		case f.kind == faultList:
			w.faults(v, indent)
		case f.kind == section && isEmpty(v):
			fmt.Fprintf(w, "%s%s: on\n", indent, f.name)
		case f.kind == section:
			fmt.Fprintf(w, "%s%s:\n", indent, f.name)
			w.fields(x, f, indent+"  ")
		default:
			fmt.Fprintf(w, "%s%s: %s\n", indent, f.name, x.written(f))
		}
	}
}

func (w writer) faults(all reflect.Value, indent string) {
	fmt.Fprintf(w, "%sfaults:\n", indent)
	for _, f := range all.Seq2() {
		var item bytes.Buffer
		writer{&item}.fields(values{faultRoot, f}, faultRoot, indent+"    ")
		fmt.Fprintf(w, "%s  - %s\n", indent, strings.TrimSpace(item.String()))
	}
}

// isEmpty reports whether v, a section that is there, has its defaults.
func isEmpty(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.Elem().IsZero() }

// written returns the value of s, which is set, as YAML.
func (x values) written(s *shape) string {
	v := x.in(s)
	switch s.kind {
	case text:
		return written(v.String())
	case texts:
		var all []string
		for _, item := range v.Seq2() {
			all = append(all, item.String())
		}
		return writtenList(all)
	case pairs:
		out, _ := json.Marshal(v.Interface()) //nolint:errcheck,errchkjson // texts can be written
		return string(out)
	case moment:
		return `"` + x.shown(s) + `"`
	default:
		return x.shown(s)
	}
}

func writtenList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = written(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

var (
	plain    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$`)
	reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// written returns s as YAML, in quotes unless it is a plain word.
func written(s string) string {
	if plain.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can be written
	return strings.TrimSuffix(b.String(), "\n")
}
