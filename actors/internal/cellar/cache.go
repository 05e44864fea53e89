package cellar

import (
	"sync"

	"github.com/backstay-go/backstay/actors/journal"
)

// cache has the pages that were read last, up to about so many bytes.
type cache struct {
	limit int

	mu    sync.Mutex
	pages map[journal.Chunk]*page
	order []journal.Chunk // the one that came first, first
	bytes int
}

func (c *cache) get(k journal.Chunk) *page {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages[k]
}

func (c *cache) put(k journal.Chunk, p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages[k] != nil {
		return
	}
	if c.pages == nil {
		c.pages = make(map[journal.Chunk]*page)
	}
	c.pages[k] = p
	c.order = append(c.order, k)
	for c.bytes += p.size(); c.bytes > c.limit && len(c.order) > 1; c.order = c.order[1:] {
		first := c.order[0]
		c.bytes -= c.pages[first].size()
		delete(c.pages, first)
	}
}
