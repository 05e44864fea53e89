package middleware_test

import (
	"strings"
	"testing"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
)

func TestACodecIsFoundByItsHeader(t *testing.T) {
	if got := (middleware.Propagation{}).Codec().Name(); !strings.EqualFold(got, deadline.DefaultHeader) {
		t.Errorf("the default is %q", got)
	}
	for _, name := range deadline.CodecNames() {
		p := middleware.Propagation{Header: name}
		target := middleware.Target{Propagate: p}
		if got := p.Codec().Name(); !strings.EqualFold(got, name) || target.Validate() != nil {
			t.Errorf("%q is %q, %v", name, got, target.Validate())
		}
	}
}

func TestHostsAreThoseOfURLs(t *testing.T) {
	for host, valid := range map[string]bool{
		"*": true, "payments": true, "payments.test:8443": true, "[::1]:80": true, "10.0.0.1": true,
		"": false, "http://payments": false, "payments/": false, "*.test": false, "user@payments": false, "a b": false,
	} {
		target := middleware.Target{Propagate: middleware.Propagation{Hosts: []string{host}}}
		if err := target.Validate(); (err == nil) != valid {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func TestARegistryTellsOnWhoseBehalfItActs(t *testing.T) {
	seen := new(journal)
	target := only(middleware.Config{Idempotency: &idempotency.Config{Header: "X-Key"}})
	r := registry(t, target, middleware.WithObserver(seen))
	if s := r.Scope(); s.Policy != "test" || s.Key != "" || s.Observer == nil {
		t.Errorf("scope %+v", s)
	}
	if got := r.Idempotency().Header(); got != "X-Key" {
		t.Errorf("header %q", got)
	}
	if registry(t, middleware.Standard("test")).Idempotency() != nil {
		t.Error("a policy out of nothing")
	}
}

func TestAHostWithoutAPortFitsEveryPort(t *testing.T) {
	p := middleware.Propagation{Hosts: []string{"payments.internal", "stock:8080", "[::1]"}}
	for host, told := range map[string]bool{
		"payments.internal": true, "payments.internal:41251": true, "Payments.Internal:80": true,
		"stock:8080": true, "stock:80": false, "stock": false, "stock:80801": false,
		"[::1]:80": true, "[::1]": true,
		"payments.internal.evil.test": false, "payments.internal:80@evil.test": false, "payments": false, "": false,
	} {
		if got := p.Tells(host); got != told {
			t.Errorf("%q is told: %v", host, got)
		}
	}
	if (middleware.Propagation{}).Tells("a") || !(middleware.Propagation{Hosts: []string{"*"}}).Tells("a:1") {
		t.Error("nobody, or not everybody, is told")
	}
}
