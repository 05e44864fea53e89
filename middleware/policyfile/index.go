package policyfile

import (
	"slices"
	"strings"

	"github.com/backstay-go/backstay/middleware"
)

// index finds the most specific pattern that matches without looking at all of
// them. It follows the order of [compare]: what names a gRPC service, then by
// host, by port, by route or gRPC method, by HTTP method.
type index struct {
	rpcs  hosts // of the patterns that name a gRPC service
	other hosts // of all the others
}

// hosts are patterns by their hosts.
type hosts struct {
	exact map[string]*group // by host, with its port if the pattern has one
	tails map[string]*group // by what follows the star of a host that stands for many
	any   *group            // of "*" without a port
	ports bool              // some pattern has a port
}

// group are the patterns of one host and port.
type group struct {
	routes   *branch
	services map[string][]choice // of gRPC
	rest     []choice            // with neither route nor service
}

// branch are the routes with a common beginning.
type branch struct {
	literals  map[string]*branch
	parameter *branch
	ends      []choice // routes that are over here
	rest      []choice // routes that go on with {rest...}
}

// choice is a pattern and what it stands for.
type choice struct {
	pattern
	target *middleware.Target
}

// newIndex takes patterns in their order.
func newIndex(sorted []pattern, targets map[string]*resolved) *index {
	x := &index{newHosts(), newHosts()}
	for _, p := range sorted {
		among := &x.other
		if p.service != "" {
			among = &x.rpcs
		}
		among.groupOf(p).add(choice{p, targets[p.target].Target})
	}
	return x
}

func newHosts() hosts {
	return hosts{exact: make(map[string]*group), tails: make(map[string]*group)}
}

// groupOf returns the group that p belongs to.
func (x *hosts) groupOf(p pattern) *group {
	if p.host == "*" && p.port == "" {
		if x.any == nil {
			x.any = &group{}
		}
		return x.any
	}
	among := x.exact
	key, many := strings.CutPrefix(p.host, "*")
	if many {
		among = x.tails
	}
	if p.port != "" {
		key += ":" + p.port
		x.ports = true
	}
	if among[key] == nil {
		among[key] = &group{}
	}
	return among[key]
}

func (g *group) add(c choice) {
	switch {
	case c.route != nil:
		if g.routes == nil {
			g.routes = &branch{}
		}
		g.routes.add(c, c.route)
	case c.service != "":
		if g.services == nil {
			g.services = make(map[string][]choice)
		}
		g.services[c.service] = append(g.services[c.service], c)
	default:
		g.rest = append(g.rest, c)
	}
}

func (b *branch) add(c choice, route []string) {
	if len(route) == 0 {
		b.ends = append(b.ends, c)
		return
	}
	switch segmentOf(route[0]) {
	case rest:
		b.rest = append(b.rest, c)
	case parameter:
		if b.parameter == nil {
			b.parameter = &branch{}
		}
		b.parameter.add(c, route[1:])
	default:
		if b.literals == nil {
			b.literals = make(map[string]*branch)
		}
		if b.literals[route[0]] == nil {
			b.literals[route[0]] = &branch{}
		}
		b.literals[route[0]].add(c, route[1:])
	}
}

// find returns the target of the most specific pattern that matches q; nil if
// there is none.
func (x *index) find(q Request) *middleware.Target {
	if q.GRPC != "" {
		if t := x.rpcs.find(&q); t != nil {
			return t
		}
	}
	return x.other.find(&q)
}

// find returns the target of the most specific one of the patterns.
func (x *hosts) find(q *Request) *middleware.Target {
	full := strings.ToLower(q.Host)
	host, _ := cutPort(full)
	if t := x.at(x.exact, full, len(host), q); t != nil {
		return t
	}
	if len(x.tails) > 0 {
		for i := 1; i < len(host); i++ { // something must stand in the place of the star
			if host[i] != '.' {
				continue
			}
			if t := x.at(x.tails, full[i:], len(host)-i, q); t != nil {
				return t
			}
		}
		if t := x.at(x.tails, full[len(host):], 0, q); t != nil {
			return t
		}
	}
	return x.any.find(q)
}

// at looks in the groups of one host, of which full has the port from n on:
// first in that with the port.
func (x *hosts) at(among map[string]*group, full string, n int, q *Request) *middleware.Target {
	if x.ports && n < len(full) {
		if t := among[full].find(q); t != nil {
			return t
		}
	}
	return among[full[:n]].find(q)
}

func (g *group) find(q *Request) *middleware.Target {
	if g == nil {
		return nil
	}
	if g.routes != nil {
		if left, ok := strings.CutPrefix(q.Path, "/"); ok {
			if t := g.routes.find(left, true, q.Method); t != nil {
				return t
			}
		}
	}
	if g.services != nil {
		service, rpc, _ := strings.Cut(strings.TrimPrefix(q.GRPC, "/"), "/")
		all := g.services[service]
		for i := range all {
			if c := &all[i]; c.rpc == "" || c.rpc == rpc {
				return c.target
			}
		}
	}
	return first(g.rest, q.Method)
}

// find looks for a route that goes on with the segments of left; more says
// whether there are any.
func (b *branch) find(left string, more bool, method string) *middleware.Target {
	if !more {
		return first(b.ends, method)
	}
	segment, after, more := strings.Cut(left, "/")
	if l := b.literals[segment]; l != nil {
		if t := l.find(after, more, method); t != nil {
			return t
		}
	}
	if b.parameter != nil && segment != "" {
		if t := b.parameter.find(after, more, method); t != nil {
			return t
		}
	}
	return first(b.rest, method)
}

// first returns the first of all that takes the method.
func first(all []choice, method string) *middleware.Target {
	for i := range all {
		if all[i].matchesMethod(method) {
			return all[i].target
		}
	}
	return nil
}

func (p *pattern) matchesMethod(m string) bool {
	return p.methods == nil || slices.Contains(p.methods, m)
}
