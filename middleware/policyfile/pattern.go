package policyfile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// pattern is which requests a target is for. What it does not name is as it
// likes.
type pattern struct {
	at      spot
	target  string
	host    string   // "*" and "*.example.com" stand for many
	port    string   // "" is any
	methods []string // nil are all
	route   []string // its segments; nil is any
	service string   // of gRPC; "" is none
	rpc     string   // "" is any of the service
	broken  bool     // it had a fault: nobody knows what it was to match
}

// patterns reads what stands at match: one mapping, or a list of them.
func (r *reader) patterns(e entry) []pattern {
	var all []pattern
	for i, n := range r.items(e.value) {
		path := e.key.path
		if follow(e.value).Kind == yaml.SequenceNode {
			path += "[" + strconv.Itoa(i) + "]"
		}
		all = append(all, r.pattern(n, path))
	}
	return all
}

func (r *reader) pattern(n *yaml.Node, path string) pattern {
	before := len(r.all)
	entries := r.entries(n, path)
	p := pattern{at: where(n, path), host: "*"}
	for _, e := range entries {
		switch e.name {
		case "host":
			r.host(&p, e)
		case "method":
			r.methods(&p, e)
		case "route":
			r.route(&p, e)
		case "grpc":
			r.grpc(&p, e)
		default:
			r.add(e.key, suggest(e.name, []string{"host", "method", "route", "grpc"}), "unknown key")
		}
	}
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 0:
		r.add(p.at, `write host: "*" to match everything`, "matches nothing in particular")
	case p.service != "" && (p.methods != nil || p.route != nil):
		r.add(p.at, "leave method and route out", "a gRPC method has neither an HTTP method nor a route")
	}
	if len(r.all) > before {
		p.broken = true
	}
	return p
}

// said returns the text of e, and reports what is none.
func (r *reader) said(e entry) string {
	s, wrong := rule{kind: text}.text(e.value)
	if wrong != nil {
		r.add(e.spot(), wrong.suggestion, "%s", wrong.reason)
	}
	return s
}

func (r *reader) host(p *pattern, e entry) {
	s := r.said(e)
	host, port := cutPort(strings.ToLower(s))
	if strings.Contains(s, "://") {
		r.add(e.spot(), suggestHost(strings.ToLower(s)), "%s is a URL, not a host", quote(s))
		return
	}
	tail, _ := strings.CutPrefix(host, "*.")
	if host != "*" && strings.ContainsAny(tail, "*/ ") {
		r.add(e.spot(), "such as pay.example.com, *.example.com or *", "%s is not a host", quote(s))
		return
	}
	p.host, p.port = host, port
}

// suggestHost finds the host in a URL: what follows the scheme, or at the end of
// what a gRPC connection is dialled by, dns:///stock:443.
func suggestHost(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	if scheme != "http" && scheme != "https" {
		host = rest[strings.LastIndexByte(rest, '/')+1:]
	}
	if host == "" {
		return "such as pay.example.com, *.example.com or *"
	}
	return "did you mean " + host + "?"
}

// cutPort takes a port off a host.
func cutPort(s string) (host, port string) {
	i := len(s) - 1
	for i >= 0 && '0' <= s[i] && s[i] <= '9' {
		i--
	}
	if i < 0 || s[i] != ':' {
		return s, ""
	}
	return s[:i], s[i+1:]
}

func (r *reader) methods(p *pattern, e entry) {
	known := []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH", "CONNECT"}
	p.methods = r.list(rule{kind: texts}, e)
	for _, m := range p.methods {
		if strings.ToUpper(m) != m || strings.ContainsAny(m, " \t/") {
			r.add(e.spot(), suggest(m, known), "%s is not a method", quote(m))
		}
	}
	if len(p.methods) == 0 {
		r.add(e.spot(), "leave method out to match all", "no methods are named")
	}
}

func (r *reader) route(p *pattern, e entry) {
	s := r.said(e)
	if s == "" {
		return
	}
	if !strings.HasPrefix(s, "/") || strings.ContainsAny(s, "?# ") {
		r.add(e.spot(), "such as /v1/charges/{id} or /static/{rest...}", "%s is not a route", quote(s))
		return
	}
	p.route = strings.Split(s[1:], "/")
	for i, segment := range p.route {
		switch {
		case segmentOf(segment) == rest && i < len(p.route)-1:
			r.add(e.spot(), "put it last", "%s matches all that follows", quote(segment))
		case segmentOf(segment) == literal && strings.ContainsAny(segment, "{}*"):
			r.add(e.spot(), "write {name} for a whole segment, {name...} for all that follow", "%s is not a segment", quote(segment))
		}
	}
}

func (r *reader) grpc(p *pattern, e entry) {
	s := strings.TrimPrefix(r.said(e), "/")
	if s == "" {
		return
	}
	p.service, p.rpc, _ = strings.Cut(s, "/")
	if p.rpc == "*" {
		p.rpc = ""
	}
	if p.service == "" || strings.ContainsAny(p.service+p.rpc, "/* {}") {
		r.add(e.spot(), "such as inventory.v1.Stock or inventory.v1.Stock/Get", "%s is not a service or method", quote(s))
	}
}

// unsafe returns the first thing of p that must not be sent twice unasked.
func (p pattern) unsafe() string {
	if p.service != "" {
		return p.grpcName()
	}
	for _, m := range p.methods {
		if m != "GET" && m != "HEAD" && m != "OPTIONS" {
			return m
		}
	}
	return ""
}

func (p pattern) grpcName() string {
	if p.rpc == "" {
		return p.service + "/*"
	}
	return p.service + "/" + p.rpc
}

// String says what p matches.
func (p pattern) String() string {
	host := p.host
	if p.port != "" {
		host += ":" + p.port
	}
	all := []string{"host " + host}
	if p.methods != nil {
		all = append(all, "method "+strings.Join(p.methods, " "))
	}
	if p.route != nil {
		all = append(all, "route /"+strings.Join(p.route, "/"))
	}
	if p.service != "" {
		all = append(all, "grpc "+p.grpcName())
	}
	return strings.Join(all, ", ")
}

// The kinds of a route's segments, most specific first; finished is past the
// last one.
const (
	literal = iota
	parameter
	finished
	rest
)

func segmentOf(s string) int {
	switch {
	case len(s) > 5 && strings.HasPrefix(s, "{") && strings.HasSuffix(s, "...}"):
		return rest
	case len(s) > 2 && s[0] == '{' && s[len(s)-1] == '}' && !strings.ContainsAny(s[1:len(s)-1], "{}"):
		return parameter
	default:
		return literal
	}
}

// compare puts the more specific pattern first: what names a gRPC service, then
// by host, then by route or gRPC method, then by HTTP method. Of two that can match the same request neither
// comes first only if they are of the same kind.
func compare(a, b pattern) int {
	return cmp.Or(
		cmp.Compare(min(grpcRank(b), 1), min(grpcRank(a), 1)),
		cmp.Compare(hostRank(b), hostRank(a)),
		cmp.Compare(len(b.port), len(a.port)),
		compareRoutes(a.route, b.route),
		cmp.Compare(grpcRank(b), grpcRank(a)),
		cmp.Compare(min(len(b.methods), 1), min(len(a.methods), 1)),
	)
}

func hostRank(p pattern) int {
	if strings.HasPrefix(p.host, "*") {
		return len(p.host)
	}
	return 1 << 16
}

func grpcRank(p pattern) int {
	switch {
	case p.rpc != "":
		return 2
	case p.service != "":
		return 1
	default:
		return 0
	}
}

func compareRoutes(a, b []string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(segmentAt(a, i), segmentAt(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

func segmentAt(route []string, i int) int {
	if i >= len(route) {
		return finished
	}
	return segmentOf(route[i])
}

// kind is the same for two patterns that neither is more specific of, and that
// match the same requests but for their methods.
func (p pattern) kind() string {
	route := slices.Clone(p.route)
	for i, segment := range route {
		switch segmentOf(segment) {
		case parameter:
			route[i] = "{}"
		case rest:
			route[i] = "{...}"
		default:
		}
	}
	p.route, p.methods = route, nil
	return p.String()
}
