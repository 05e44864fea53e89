package policyfile_test

import (
	"testing"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestTheMostSpecificTargetMatches(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte(`
targets:
  everything: {match: {host: "*"}}
  example: {match: {host: "*.example.com"}}
  deep: {match: {host: "*.eu.example.com"}}
  pay: {match: {host: pay.example.com}}
  port: {match: {host: "pay.example.com:8443"}}
  writes: {match: {host: pay.example.com, method: [POST, PUT]}}
  charge: {match: {host: pay.example.com, route: "/v1/charges/{id}"}}
  mine: {match: {host: pay.example.com, route: /v1/charges/mine}}
  charged: {match: {host: pay.example.com, route: "/v1/charges/{id}", method: POST}}
  static: {match: {host: pay.example.com, route: "/static/{rest...}"}}
  logo: {match: {host: pay.example.com, route: "/static/logo"}}
  stock: {match: {grpc: inventory.v1.Stock}}
  grpchost: {match: {host: stock.example.com}}
  get: {match: [{grpc: /inventory.v1.Stock/Get}, {host: v6, grpc: inventory.v1.Stock/List}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	type q = policyfile.Request
	for _, c := range []struct {
		q    policyfile.Request
		want string
	}{
		{q{Host: "elsewhere"}, "everything"},
		{q{}, "everything"},
		{q{Host: "a.example.com"}, "example"},
		{q{Host: "A.Example.Com:443"}, "example"},
		{q{Host: "example.com"}, "everything"},
		{q{Host: "a.eu.example.com"}, "deep"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/"}, "pay"},
		{q{Host: "pay.example.com:8443", Method: "POST", Path: "/"}, "port"},
		{q{Host: "pay.example.com:443", Method: "POST", Path: "/"}, "writes"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/v1/charges/7"}, "charge"},
		{q{Host: "pay.example.com", Method: "PUT", Path: "/v1/charges/7"}, "charge"},
		{q{Host: "pay.example.com", Method: "POST", Path: "/v1/charges/{id}"}, "charged"},
		{q{Host: "pay.example.com", Method: "POST", Path: "/v1/charges/mine"}, "mine"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/v1/charges/7/refunds"}, "pay"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/v1/charges/"}, "pay"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/v1/charges"}, "pay"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/static/a/b"}, "static"},
		{q{Host: "pay.example.com", Method: "GET", Path: "/static/logo"}, "logo"},
		{q{Host: "elsewhere", GRPC: "/inventory.v1.Stock/Put"}, "stock"},
		{q{Host: "elsewhere", GRPC: "/inventory.v1.Stock/Get"}, "get"},
		{q{Host: "stock.example.com:50051", GRPC: "/inventory.v1.Stock/Put"}, "stock"},
		{q{Host: "a.example.com", GRPC: "/inventory.v1.Stock/Get"}, "get"},
		{q{Host: "stock.example.com", GRPC: "/inventory.v1.Orders/Get"}, "grpchost"},
		{q{Host: "stock.example.com", Method: "GET", Path: "/inventory.v1.Stock/Get"}, "grpchost"},
		{q{Host: "v6", GRPC: "/inventory.v1.Stock/List"}, "get"},
		{q{Host: "elsewhere", GRPC: "/inventory.v1.Stocks/Get"}, "everything"},
	} {
		if target := p.Match(c.q); target == nil || target.Name != c.want {
			t.Errorf("%+v: got %+v, want %q", c.q, target, c.want)
		}
	}
}

func TestWhatNothingMatches(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets: {a: {match: {host: a}}, b: on}"))
	if err != nil {
		t.Fatal(err)
	}
	if target := p.Match(policyfile.Request{Host: "b"}); target != nil {
		t.Errorf("%q matches", target.Name)
	}
}

func TestTargetsThatDifferByMethodDoNotCollide(t *testing.T) {
	_, err := policyfile.Parse("policies.yaml", []byte("targets: {a: {match: {method: GET}}, b: {match: {method: POST}}, c: {match: {host: \"*\"}}}"))
	if err != nil {
		t.Error(err)
	}
}
