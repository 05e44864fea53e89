package console

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/backstay-go/backstay/middleware"
)

// source is where pipelines come from.
type source struct {
	name   string
	target string // whose events are those of the pipelines
	size   func() int
	all    func(yield func(key string, p *middleware.Pipeline) bool)

	registries iter.Seq2[string, *middleware.Registry] // what stands for several; else nil
}

func sourceOf(name string, r *middleware.Registry) source {
	return source{name: name, target: r.Scope().Policy, size: r.Len, all: r.All}
}

// Add shows the pipelines of r, also those yet to be made, under name. The
// error says that the name is taken; see [Console.Remove].
func (c *Console) Add(name string, r *middleware.Registry) error {
	if r == nil {
		return fmt.Errorf("console: %q has no registry", name)
	}
	return c.add(sourceOf(name, r))
}

// AddAll shows the pipelines of registries that come and go, such as those of a
// router, each under name, a slash, and its own name. registries is asked anew
// with every look, and may be asked by several goroutines at once. The error
// says that the name is taken; see [Console.Remove].
//
//	err := page.AddAll("http", router.Registries)
func (c *Console) AddAll(name string, registries iter.Seq2[string, *middleware.Registry]) error {
	if registries == nil {
		return fmt.Errorf("console: %q has no registries", name)
	}
	return c.add(source{name: name, registries: registries})
}

// AddPipeline shows p, which belongs to no registry, under name. The error says
// that the name is taken; see [Console.Remove].
func (c *Console) AddPipeline(name string, p *middleware.Pipeline) error {
	if p == nil {
		return fmt.Errorf("console: %q has no pipeline", name)
	}
	return c.add(source{
		name: name, target: p.Status().Name,
		size: func() int { return 1 },
		all:  func(yield func(string, *middleware.Pipeline) bool) { yield("", p) },
	})
}

func (c *Console) add(s source) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.free(s.name); err != nil {
		return err
	}
	c.sources = append(slices.Clip(c.sources), s) // a look that is under way keeps its own
	c.sample = nil
	return nil
}

// free reports whether a name is taken. mu is held.
func (c *Console) free(name string) error {
	if slices.ContainsFunc(c.sources, func(s source) bool { return s.name == name }) ||
		slices.ContainsFunc(c.nodes, func(n node) bool { return n.name == name }) {
		return fmt.Errorf("console: the name %q is taken", name)
	}
	return nil
}

// Remove shows the pipelines, or the node, under name no longer, and reports
// whether there were any: for a registry that another one is going to replace.
func (c *Console) Remove(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.sources) + len(c.nodes)
	c.sources = slices.DeleteFunc(slices.Clone(c.sources), func(s source) bool { return s.name == name })
	c.nodes = slices.DeleteFunc(slices.Clone(c.nodes), func(n node) bool { return n.name == name })
	c.sample = nil
	return len(c.sources)+len(c.nodes) < before
}

// find returns the pipeline with the id; nil if there is none. It makes none.
func (c *Console) find(id string) *middleware.Pipeline {
	for _, s := range spread(c.snapshot()) {
		for key, p := range s.all {
			if identity(s.name, key) == id {
				return p
			}
		}
	}
	return nil
}

func (c *Console) snapshot() []source {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sources
}

// spread puts in place of a source that stands for several those that there are
// now, in order of their names. What was added by itself keeps its name.
func spread(sources []source) []source {
	var all []source
	taken := make(map[string]bool)
	for _, s := range sources {
		if s.registries == nil {
			taken[s.name] = true
			all = append(all, s)
		}
	}
	for _, s := range sources {
		if s.registries == nil {
			continue
		}
		now := maps.Collect(s.registries)
		for _, key := range slices.Sorted(maps.Keys(now)) {
			name, r := s.name+"/"+key, now[key]
			if r != nil && !taken[name] {
				taken[name] = true
				all = append(all, sourceOf(name, r))
			}
		}
	}
	return all
}
