package chaos

import (
	"net/http"
	"slices"
	"strings"

	"github.com/backstay-go/backstay/middleware"
)

// Request is what tells which faults a call may have. Fields that are not
// known, or do not apply, are empty: a fault that asks for them does not match.
type Request struct {
	// Host is the host that is called, with its port if the URL has one, or
	// the endpoint of a gRPC connection, without the scheme of its target.
	Host string
	// Method is the HTTP method.
	Method string
	// Path is the path of the URL, or the full name of a gRPC method.
	Path string
	// Header are the headers, or the metadata of a gRPC call, under their
	// canonical or their lower-case names.
	Header map[string][]string
}

// match is a [middleware.FaultMatch] that has been taken apart.
type match struct {
	host    string
	methods []string
	route   []string // segments; nil fits every path
	header  string   // the canonical name
	lower   string   // the name in lower case
	value   string
}

func newMatch(m middleware.FaultMatch) match {
	c := match{host: m.Host, methods: m.Methods, value: m.Value}
	if m.Route != "" {
		c.route = strings.Split(m.Route[1:], "/")
	}
	if m.Header != "" {
		c.header, c.lower = http.CanonicalHeaderKey(m.Header), strings.ToLower(m.Header)
	}
	return c
}

func (m *match) fits(r Request) bool {
	return m.fitsHost(r.Host) && m.fitsMethod(r.Method) && m.fitsPath(r.Path) && m.fitsHeader(r.Header)
}

func (m *match) fitsHost(host string) bool {
	if m.host == "" || strings.EqualFold(m.host, host) {
		return true
	}
	bare := withoutPort(host)
	if tail, below := strings.CutPrefix(m.host, "*"); below { // *.example.com
		if withoutPort(tail) != tail {
			bare = host
		}
		return len(bare) > len(tail) && strings.EqualFold(bare[len(bare)-len(tail):], tail)
	}
	return strings.EqualFold(m.host, bare)
}

// withoutPort takes the port off a host.
func withoutPort(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.Trim(host[i+1:], "0123456789") != "" {
		return host
	}
	return host[:i]
}

func (m *match) fitsMethod(method string) bool {
	return m.methods == nil || slices.Contains(m.methods, method)
}

func (m *match) fitsPath(path string) bool {
	if m.route == nil {
		return true
	}
	left, more := strings.CutPrefix(path, "/")
	for _, want := range m.route {
		if strings.HasSuffix(want, "...}") {
			return more
		}
		if !more {
			return false
		}
		var segment string
		segment, left, more = strings.Cut(left, "/")
		if parameter := strings.HasPrefix(want, "{"); parameter && segment == "" || !parameter && segment != want {
			return false
		}
	}
	return !more
}

func (m *match) fitsHeader(all map[string][]string) bool {
	if m.header == "" {
		return true
	}
	return m.fitsValues(all[m.header]) || m.fitsValues(all[m.lower])
}

func (m *match) fitsValues(values []string) bool {
	if m.value == "" {
		return len(values) > 0
	}
	return slices.Contains(values, m.value)
}
