package policyfile

import (
	"errors"
	"maps"
	"slices"

	"github.com/backstay-go/backstay/middleware"
)

// Policies are the targets of one file. They do not change, and are safe for
// concurrent use; what follows a file that changes is a [Live].
type Policies struct {
	file    string
	targets map[string]*resolved
	defined map[string]*definition
	index   *index
	notes   []Note

	server        *resolved // nil if the file says nothing of it
	serverDefined *definition
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

// Parse reads a file that is called name, in YAML or, of which YAML is more,
// JSON; a name that ends in .json allows nothing but JSON. The error is an
// [*Error] with every fault.
func Parse(name string, data []byte) (*Policies, error) {
	r := &reader{faults: faults{file: name}}
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
	sorted := r.sorted(targets)
	if f.server != nil {
		p.server, p.serverDefined = r.resolveServer(f.server), f.server
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	p.index = newIndex(sorted, p.targets)
	for _, d := range targets {
		p.notes = append(p.notes, p.note(d, p.targets[d.name])...)
	}
	if p.server != nil {
		p.notes = append(p.notes, p.note(p.serverDefined, p.server)...)
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
	return clone(*t.Target), true
}

// Target returns the target called name, for the constructors of pipelines and
// protocols. Where there is none it returns one that they refuse, with an error
// that says so: a name with a typing mistake is not to go unprotected.
func (p *Policies) Target(name string) middleware.Target {
	if t, ok := p.Lookup(name); ok {
		return t
	}
	return middleware.Unbuildable(name, p.unknown(name))
}

// unknown says that there is no target called name, and which are like it.
func (p *Policies) unknown(name string) error {
	said := p.file + " has no target " + quote(name)
	if hint := suggest(name, p.Names()); hint != "" {
		said += "; " + hint
	}
	return errors.New(said)
}

// Server returns the server of the file, and where the file has none
// [middleware.StandardServer]. It is the caller's own to change.
func (p *Policies) Server() middleware.Server {
	if s, ok := p.LookupServer(); ok {
		return s
	}
	return middleware.StandardServer(defaultServer)
}

// LookupServer returns the server of the file, and whether it says anything of
// one. It is the caller's own to change.
func (p *Policies) LookupServer() (middleware.Server, bool) {
	if p.server == nil {
		return middleware.Server{}, false
	}
	return clone(*p.server.Server), true
}

// All calls f for every target, in order of their names, until f returns false.
// The targets are not to be changed.
func (p *Policies) All(f func(*middleware.Target) bool) {
	for _, name := range p.Names() {
		if !f(p.targets[name].Target) {
			return
		}
	}
}

// Match returns the target that q belongs to, the most specific one that
// matches: for an RPC one that names its service, then by host, then by route or
// gRPC method, then by HTTP method; nil where none does. The target is not to be changed.
func (p *Policies) Match(q Request) *middleware.Target { return p.index.find(q) }

// WorstCase returns the most that the target called name makes of its calls;
// see [WorstCaseOf].
func (p *Policies) WorstCase(name string) (w WorstCase, ok bool) {
	t, ok := p.targets[name]
	if !ok {
		return WorstCase{}, false
	}
	return WorstCaseOf(*t.Target), true
}
