package console

import (
	"fmt"
	"slices"

	"github.com/backstay-go/backstay/middleware"
)

// source is where pipelines come from.
type source struct {
	name   string
	target string // whose events are those of the pipelines
	size   func() int
	all    func(yield func(key string, p *middleware.Pipeline) bool)
}

// Add shows the pipelines of r, also those yet to be made, under name. The
// error says that the name is taken; see [Console.Remove].
func (c *Console) Add(name string, r *middleware.Registry) error {
	if r == nil {
		return fmt.Errorf("console: %q has no registry", name)
	}
	return c.add(source{name: name, target: r.Scope().Policy, size: r.Len, all: r.All})
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
	for _, other := range c.sources {
		if other.name == s.name {
			return fmt.Errorf("console: the name %q is taken", s.name)
		}
	}
	c.sources = append(slices.Clip(c.sources), s) // a look that is under way keeps its own
	c.sample = nil
	return nil
}

// Remove shows the pipelines under name no longer, and reports whether there
// were any: for a registry that another one is going to replace.
func (c *Console) Remove(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.sources)
	c.sources = slices.DeleteFunc(slices.Clone(c.sources), func(s source) bool { return s.name == name })
	c.sample = nil
	return len(c.sources) < before
}

// find returns the pipeline with the id; nil if there is none. It makes none.
func (c *Console) find(id string) *middleware.Pipeline {
	for _, s := range c.snapshot() {
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
