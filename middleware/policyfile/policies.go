package policyfile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/middleware"
)

// Policies are the targets of one file. They do not change, and are safe for
// concurrent use; what follows a file that changes is a [Live].
type Policies struct {
	file     string
	targets  map[string]*resolved
	defined  map[string]*definition
	patterns []pattern // most specific first
	notes    []Note
}

// Load reads the file at path. Its errors are those of the file system, or an
// [*Error] with every fault of the file.
func Load(path string) (*Policies, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// read returns the content of a file, cut where it is too long to be taken.
func read(path string) ([]byte, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("policyfile: %w", err)
	}
	defer f.Close()
	data, err := readAtMost(f, maxFile+1)
	if err != nil {
		return nil, fmt.Errorf("policyfile: %w", err)
	}
	return data, nil
}

// Parse reads a file that is called name, in YAML or, of which YAML is more,
// JSON; a name that ends in .json allows nothing but JSON. The error is an
// [*Error] with every fault.
func Parse(name string, data []byte) (*Policies, error) {
	r := &reader{faults{file: name}}
	n := r.document(data)
	if n == nil {
		return nil, r.err()
	}
	return r.policies(r.top(n))
}

// policies puts profiles under targets.
func (r *reader) policies(f *file) (*Policies, error) {
	p := &Policies{file: r.file, targets: map[string]*resolved{}, defined: f.targets}
	var targets []*definition
	for _, name := range slices.Sorted(maps.Keys(f.targets)) {
		d := f.targets[name]
		targets = append(targets, d)
		p.targets[name] = r.resolve(f, d)
	}
	for _, name := range slices.Sorted(maps.Keys(f.profiles)) {
		if d := f.profiles[name]; !d.used {
			r.resolve(f, d) // what nobody extends yet is to be right all the same
		}
	}
	p.patterns = r.sorted(targets)
	if err := r.err(); err != nil {
		return nil, err
	}
	for _, d := range targets {
		p.notes = append(p.notes, p.note(d)...)
	}
	return p, nil
}

// Names returns the names of the targets, in order.
func (p *Policies) Names() []string { return slices.Sorted(maps.Keys(p.targets)) }

// Lookup returns the target called name, and whether there is one. The target
// is the caller's own to change.
func (p *Policies) Lookup(name string) (middleware.Target, bool) {
	t, ok := p.targets[name]
	if !ok {
		return middleware.Target{}, false
	}
	return clone(t.Target), true
}

// Target returns the target called name, for the constructors of pipelines and
// protocols. Where there is none it returns one that they refuse, with an error
// that says so: a name with a typing mistake is not to go unprotected.
func (p *Policies) Target(name string) middleware.Target {
	if t, ok := p.Lookup(name); ok {
		return t
	}
	hint := suggest(name, p.Names())
	return middleware.Target{Name: name, Propagate: middleware.Propagation{
		Header: strings.TrimSuffix(p.file+" has no target "+quote(name)+"; "+hint, "; "),
	}}
}

// Match returns the name of the target that q belongs to, the most specific one
// that matches: by host, then by route or gRPC method, then by HTTP method. ok
// is false where none does.
func (p *Policies) Match(q Request) (name string, t middleware.Target, ok bool) {
	for _, candidate := range p.patterns {
		if candidate.matches(q) {
			return candidate.target, clone(p.targets[candidate.target].Target), true
		}
	}
	return "", middleware.Target{}, false
}

// WorstCase returns the most that the target called name makes of its calls;
// see [WorstCaseOf].
func (p *Policies) WorstCase(name string) (w WorstCase, ok bool) {
	t, ok := p.targets[name]
	if !ok {
		return WorstCase{}, false
	}
	return WorstCaseOf(t.Target), true
}
