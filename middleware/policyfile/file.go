package policyfile

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/backstay-go/backstay/middleware"
)

// presets are the profiles that every file has for its targets. What extends
// nothing extends the first.
var presets = map[string]func(string) middleware.Target{
	standard:   middleware.Standard,
	"internal": middleware.Internal,
	"reads":    middleware.Reads,
	none:       func(name string) middleware.Target { return middleware.Target{Name: name} },
}

// serverPresets are those for its server.
var serverPresets = map[string]func(string) middleware.Server{
	standard: middleware.StandardServer,
	none:     func(name string) middleware.Server { return middleware.Server{Name: name} },
}

const standard = "standard"

// maxChain is how many profiles may extend one another.
const maxChain = 16

// definition is a profile or a target as it is written.
type definition struct {
	name      string
	at        spot // of the name
	extends   string
	extendsAt spot
	entries   []entry // the policies
	patterns  []pattern
	used      bool // a profile that something extends
}

// file is what a file says, before profiles are put under targets.
type file struct {
	profiles, targets map[string]*definition
	server            *definition // nil if there is none
}

// top reads the top of a document.
func (r *reader) top(n *yaml.Node) *file {
	f := &file{profiles: map[string]*definition{}, targets: map[string]*definition{}}
	known := []string{"version", "profiles", "targets", "server"}
	for _, e := range r.entries(n, "") {
		switch e.name {
		case "version":
			if s, _ := scalar(e.value); s != "1" {
				r.add(e.spot(), "write 1", "version %s is not known", describe(e.value))
			}
		case "profiles":
			r.definitions(f.profiles, e, (*reader).profile)
		case "targets":
			r.definitions(f.targets, e, (*reader).target)
		case "server":
			f.server = r.server(e)
		case "$schema": // for editors
		default:
			r.add(e.key, suggest(e.name, known), "unknown key")
		}
	}
	if len(f.targets) == 0 && f.server == nil && len(r.all) == 0 {
		r.add(where(n, "targets"), "write targets: and the names of what is called", "there are no targets")
	}
	return f
}

// definitions reads a mapping of names to profiles, or to targets.
func (r *reader) definitions(to map[string]*definition, e entry, read func(*reader, entry) *definition) {
	for _, named := range r.entries(e.value, e.key.path) {
		if !isName(named.name) {
			r.add(named.key, "use letters, digits and . _ - / :", "%s is not a name", quote(named.name))
			continue
		}
		to[named.name] = read(r, named)
	}
}

func isName(s string) bool {
	return s != "" && len(s) <= 200 && !strings.ContainsFunc(s, notInName)
}

func notInName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-/:", c)
}

func (r *reader) profile(e entry) *definition {
	d := r.define(e, root, func(_ *definition, key entry) bool {
		return r.refuse(key, "match", "a profile is extended, not matched: match belongs to a target") ||
			r.refuse(key, "idempotent", "say it of the target that extends this profile")
	})
	if presets[d.name] != nil {
		r.add(d.at, "choose another name", "%s is a built-in profile", d.name)
	}
	return d
}

// refuse reports key, if it is called name, as one that does not belong here.
func (r *reader) refuse(key entry, name, suggestion string) bool {
	if key.name != name {
		return false
	}
	r.add(key.key, suggestion, "key does not belong here")
	return true
}

func (r *reader) target(e entry) *definition {
	if e.name == middleware.Unmatched {
		r.add(e.key, "choose another name, and match: {host: \"*\"} for all hosts", "%s is built in: the target of calls that belong to no other", e.name)
	}
	return r.define(e, root, func(d *definition, key entry) bool {
		if key.name != "match" {
			return false
		}
		d.patterns = r.patterns(key)
		return true
	}, "match")
}

func (r *reader) server(e entry) *definition {
	return r.define(e, serverRoot, func(_ *definition, key entry) bool {
		return r.refuse(key, "match", "the server is for all requests: match belongs to a target")
	})
}

// define reads what profiles, targets and the server have in common; special
// takes the keys that only one of them has or refuses, and own names those that
// it has.
func (r *reader) define(e entry, of *shape, special func(*definition, entry) bool, own ...string) *definition {
	d := &definition{name: e.name, at: e.key, extends: standard}
	if name, named := scalar(e.value); named && name == "on" {
		return d
	}
	if e.value.Kind != yaml.MappingNode {
		r.add(e.spot(), "write on for the defaults, or {retry: {max_attempts: 2}}", "%s is not a mapping", describe(e.value))
		return d
	}
	for _, key := range r.entries(e.value, e.key.path) {
		switch {
		case special(d, key):
		case key.name == "extends":
			r.extends(d, key)
		case of.find(key.name) == nil:
			r.add(key.key, suggest(key.name, slices.Concat(of.children(), []string{"extends"}, own)), "unknown key")
		default:
			d.entries = append(d.entries, key)
		}
	}
	return d
}

func (r *reader) extends(d *definition, e entry) {
	name, named := scalar(e.value)
	if !named {
		r.add(e.spot(), "write the name of one profile", "%s is not the name of a profile", describe(e.value))
		return
	}
	d.extends, d.extendsAt = name, e.spot()
}

// chain returns the profiles under d, outermost first, and the preset below
// them; ok is false where there is something wrong with it: then the profiles are
// those up to there, whose own faults are to be told as well.
func (r *reader) chain(f *file, d *definition) (base string, over []*definition, ok bool) {
	defer func() { slices.Reverse(over) }()
	seen := map[*definition]bool{d: true}
	for at := d; ; {
		next := f.profiles[at.extends]
		switch {
		case presets[at.extends] != nil:
			return at.extends, over, true
		case next == nil:
			known := slices.AppendSeq(slices.Collect(maps.Keys(f.profiles)), maps.Keys(presets))
			slices.Sort(known)
			known = slices.Compact(known)
			known = slices.DeleteFunc(known, func(name string) bool { return name == at.name })
			r.add(at.extendsAt, suggest(at.extends, known), "there is no profile %s", quote(at.extends))
			return standard, over, false
		case len(over) == maxChain:
			r.add(at.extendsAt, "extend fewer profiles", "more than %d profiles extend each other", maxChain)
			return standard, over, false
		case seen[next]:
			r.add(at.extendsAt, "extend "+standard+", or nothing", "profile %s extends itself", next.name)
			return standard, over, false
		}
		next.used = true
		seen[next] = true
		over = append(over, next)
		at = next
	}
}

// resolve returns the target that d comes to, with all that is wrong with it
// reported.
func (r *reader) resolve(f *file, d *definition) *resolved {
	base, over, ok := r.chain(f, d)
	made := presets[base](d.name)
	t := resolvedTarget(&made, base)
	t.from(base)
	for _, p := range over {
		r.over(t, p.entries, p.name)
		t.extends = append(t.extends, p.name)
	}
	r.over(t, d.entries, "")
	t.baseless = !ok
	r.check(t, d)
	return t
}

// resolveServer returns the server that d comes to.
func (r *reader) resolveServer(d *definition) *resolved {
	base := d.extends
	if serverPresets[base] == nil {
		r.add(d.extendsAt, suggest(base, slices.Sorted(maps.Keys(serverPresets))), "there is no server %s to extend", quote(base))
		base = standard
	}
	made := serverPresets[base](defaultServer)
	t := resolvedServer(&made, base)
	t.from(base)
	r.over(t, d.entries, "")
	r.check(t, d)
	return t
}

// defaultServer is the name of a server that has none.
const defaultServer = "server"

// from notes that all there is comes from a built-in profile.
func (t *resolved) from(base string) {
	t.root.each(func(s *shape) {
		if v := t.in(s); s != t.root && s.name != "name" && v.IsValid() && !v.IsZero() {
			t.origins[s.path] = origin{profile: base}
		}
	})
}
