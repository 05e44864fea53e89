package chaos_test

import (
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

func TestWhichCallsMatch(t *testing.T) {
	call := chaos.Request{
		Host: "Pay.Example.com:8443", Method: "POST", Path: "/v1/charges/42",
		Header: map[string][]string{"X-Chaos": {"off", "on"}, "x-lower": {""}},
	}
	for name, c := range map[string]struct {
		match middleware.FaultMatch
		want  bool
	}{
		"everything":                   {middleware.FaultMatch{}, true},
		"the host":                     {middleware.FaultMatch{Host: "pay.example.com"}, true},
		"the host with its port":       {middleware.FaultMatch{Host: "pay.example.com:8443"}, true},
		"another port":                 {middleware.FaultMatch{Host: "pay.example.com:80"}, false},
		"another host":                 {middleware.FaultMatch{Host: "example.com"}, false},
		"hosts below":                  {middleware.FaultMatch{Host: "*.example.com"}, true},
		"hosts below, with a port":     {middleware.FaultMatch{Host: "*.example.com:8443"}, true},
		"hosts below, another port":    {middleware.FaultMatch{Host: "*.example.com:1"}, false},
		"hosts below the host itself":  {middleware.FaultMatch{Host: "*.pay.example.com"}, false},
		"the method":                   {middleware.FaultMatch{Methods: []string{"GET", "POST"}}, true},
		"another method":               {middleware.FaultMatch{Methods: []string{"GET"}}, false},
		"the path":                     {middleware.FaultMatch{Route: "/v1/charges/42"}, true},
		"the route":                    {middleware.FaultMatch{Route: "/v1/charges/{id}"}, true},
		"all that follows":             {middleware.FaultMatch{Route: "/v1/{rest...}"}, true},
		"nothing that follows":         {middleware.FaultMatch{Route: "/v1/charges/42/{rest...}"}, false},
		"a shorter route":              {middleware.FaultMatch{Route: "/v1/charges"}, false},
		"a longer route":               {middleware.FaultMatch{Route: "/v1/charges/{id}/items"}, false},
		"another route":                {middleware.FaultMatch{Route: "/v2/charges/{id}"}, false},
		"a header":                     {middleware.FaultMatch{Header: "x-chaos"}, true},
		"a header of lower case":       {middleware.FaultMatch{Header: "X-Lower"}, true},
		"a header that is not there":   {middleware.FaultMatch{Header: "X-Other"}, false},
		"the header's value":           {middleware.FaultMatch{Header: "X-Chaos", Value: "on"}, true},
		"another value of the header":  {middleware.FaultMatch{Header: "X-Chaos", Value: "o"}, false},
		"all of it":                    {middleware.FaultMatch{Host: "*.example.com", Methods: []string{"POST"}, Route: "/{all...}", Header: "X-Chaos"}, true},
		"all of it but for the method": {middleware.FaultMatch{Host: "*.example.com", Methods: []string{"PUT"}, Route: "/{all...}", Header: "X-Chaos"}, false},
	} {
		i := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 1, Match: c.match})
		if got := hits(i.Decide(time.Now(), call, zero)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatIsNotKnownDoesNotMatch(t *testing.T) {
	for _, m := range []middleware.FaultMatch{
		{Host: "a"}, {Host: "*.a"}, {Methods: []string{"GET"}}, {Route: "/"}, {Route: "/{all...}"}, {Header: "A"},
	} {
		i := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 1, Match: m})
		if hits(i.Decide(time.Now(), chaos.Request{}, zero)) {
			t.Errorf("%+v matches nothing", m)
		}
	}
}

func TestAnEmptySegmentIsNoParameter(t *testing.T) {
	i := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 1, Match: middleware.FaultMatch{Route: "/v1/{id}"}})
	for path, want := range map[string]bool{"/v1/": false, "/v1//": false, "/v1": false, "/v1/2": true, "/v1/2/": false, "v1/2": false, "": false} {
		if got := hits(i.Decide(time.Now(), chaos.Request{Path: path}, zero)); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestTheHostOfAnIPv6Address(t *testing.T) {
	i := injector(t, middleware.Fault{Name: "x", Kind: middleware.FaultError, Share: 1, Match: middleware.FaultMatch{Host: "[::1]"}})
	for host, want := range map[string]bool{"[::1]": true, "[::1]:80": true, "[::2]:80": false} {
		if got := hits(i.Decide(time.Now(), chaos.Request{Host: host}, zero)); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
