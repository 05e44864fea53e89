package middleware

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/deadline"
)

// Target is everything that is configured for the calls to one dependency: its
// policies, and what only one protocol needs. It is data; a policy file yields
// Targets, and the protocols' constructors take them, once: a later change of
// the Target changes nothing. A copy of a Target shares its sections, so set a
// new section rather than a field of an old one. The zero Target is valid and
// protects nothing.
//
// Its tags are for package policyfile, which reads durations with units; plain
// encoding/json takes them as nanoseconds.
type Target struct {
	// Name names the dependency in errors, events and metrics.
	Name string `json:"name,omitempty" yaml:"name,omitempty"`
	// Idempotent says of all calls that they may be made twice, in any order,
	// and come to the same: they are then repeated, and where there is hedging
	// copied, whatever their method.
	Idempotent bool `json:"idempotent,omitempty" yaml:"idempotent,omitempty"`
	// Config says which policies there are.
	Config `yaml:",inline"`
	// Propagate says which hosts are told of the deadline and the attempt.
	Propagate Propagation `json:"propagate,omitzero" yaml:"propagate,omitempty"`
	// HTTP is what only HTTP needs.
	HTTP HTTP `json:"http,omitzero" yaml:"http,omitempty"`
	// Keys bounds the number of keys (hosts) that have state of their own.
	Keys Keys `json:"keys,omitzero" yaml:"keys,omitempty"`
	// Faults are put into the calls on purpose, by package middleware/chaos and
	// by nothing else.
	Faults []Fault `json:"faults,omitempty" yaml:"faults,omitempty"`

	unbuildable error // see [Unbuildable]
}

// Unbuildable returns a Target that everything that builds from Targets refuses
// with an error that wraps why: for a name, say, that a policy file does not
// have. What it was meant for does not go unprotected by mistake.
func Unbuildable(name string, why error) Target {
	return Target{Name: name, unbuildable: why}
}

// Propagation says who is told how long the caller still waits, and which
// attempt this is. The zero value tells nobody: a third party has no use for it.
type Propagation struct {
	// Hosts are the hosts that are told. One without a port fits every port, and
	// "*" every host.
	Hosts []string `json:"hosts,omitempty" yaml:"hosts,omitempty"`
	// Header names the codec of the deadline: x-backstay-timeout-ms (the
	// default), grpc-timeout, connect-timeout-ms or
	// x-envoy-expected-rq-timeout-ms.
	Header string `json:"header,omitempty" yaml:"header,omitempty"`
}

// HTTP is the part of a Target that only HTTP needs.
type HTTP struct {
	// ReplayLimit is how many bytes of a request's body are remembered for
	// another attempt, where the request has no GetBody. 0 means 64 KiB,
	// [NoReplay] none.
	ReplayLimit int64 `json:"replay_limit,omitempty" yaml:"replay_limit,omitempty"`
	// IdleBody ends a response whose body is silent for so long. 0 means never.
	IdleBody time.Duration `json:"idle_body,omitempty" yaml:"idle_body,omitempty"`
	// DrainLimit and DrainTime bound what is read of a response that nobody
	// will see, to save its connection. 0 means 512 KiB and 50 ms.
	DrainLimit int64         `json:"drain_limit,omitempty" yaml:"drain_limit,omitempty"`
	DrainTime  time.Duration `json:"drain_time,omitempty" yaml:"drain_time,omitempty"`
	// WaitHeaders are further headers in which this server names a wait in
	// milliseconds: retry-after-ms, x-ms-retry-after-ms, x-amz-retry-after.
	WaitHeaders []string `json:"wait_headers,omitempty" yaml:"wait_headers,omitempty"`
}

// NoReplay, as [HTTP].ReplayLimit, remembers nothing of a request's body.
const NoReplay = -1

// Keys bounds the keys of a [Registry].
type Keys struct {
	// Max is how many keys have state of their own. 0 means 10,000.
	Max int `json:"max,omitempty" yaml:"max,omitempty"`
	// IdleAfter is how long a key must be unused before it may be given up.
	// 0 means 10 min. A key that is in use, or whose breaker is not closed, is
	// never given up.
	IdleAfter time.Duration `json:"idle_after,omitempty" yaml:"idle_after,omitempty"`
}

// Validate returns every fault at once, each a [backstay.FieldError], with the
// target's name in front of its path.
func (t Target) Validate() error {
	if t.unbuildable != nil {
		return t.unbuildable
	}
	err := errors.Join(
		t.Config.Validate(),
		backstay.Under("propagate", t.Propagate.validate()),
		backstay.Under("http", t.HTTP.validate()),
		backstay.Under("keys", t.Keys.validate()),
		ValidateFaults(t.Faults),
	)
	if t.Name == "" {
		return err
	}
	return backstay.Under(t.Name, err)
}

func (p Propagation) validate() error {
	_, known := deadline.CodecNamed(p.Header)
	rules := []backstay.Setting{{
		Path: "header", Value: p.Header, Valid: p.Header == "" || known,
		Allowed: "must be one of " + strings.Join(deadline.CodecNames(), ", "),
	}}
	for i, host := range p.Hosts {
		rules = append(rules, backstay.Setting{
			Path: fmt.Sprintf("hosts[%d]", i), Value: strconv.Quote(host),
			Valid:   host == "*" || host != "" && !strings.ContainsAny(host, "*/@?# "),
			Allowed: `must be a host, which fits every port, a host with its port, or "*" for all`,
		})
	}
	return backstay.Check(rules...)
}

// Tells reports whether host, which may have a port, is told.
func (p Propagation) Tells(host string) bool {
	return slices.ContainsFunc(p.Hosts, func(told string) bool {
		return told == "*" || len(host) >= len(told) &&
			strings.EqualFold(host[:len(told)], told) && isPort(host[len(told):])
	})
}

// isPort reports whether s, which follows a host, is nothing or its port.
func isPort(s string) bool {
	return s == "" || s[0] == ':' && strings.Trim(s[1:], "0123456789") == ""
}

// Codec returns the codec that Header names.
func (p Propagation) Codec() deadline.Codec {
	c, _ := deadline.CodecNamed(cmp.Or(p.Header, deadline.DefaultHeader))
	return c
}

func (h HTTP) validate() error {
	rules := []backstay.Setting{
		{
			Path: "replay_limit", Value: h.ReplayLimit, Valid: h.ReplayLimit >= NoReplay && h.ReplayLimit <= 1<<30,
			Allowed: "must be at most 1 GiB, 0 for the default of 64 KiB, or middleware.NoReplay",
		},
		{
			Path: "idle_body", Value: h.IdleBody, Valid: h.IdleBody >= 0,
			Allowed: "must not be negative; 0 is off",
		},
		{
			Path: "drain_limit", Value: h.DrainLimit, Valid: h.DrainLimit >= 0,
			Allowed: "must not be negative; 0 means 512 KiB",
		},
		{
			Path: "drain_time", Value: h.DrainTime, Valid: h.DrainTime >= 0,
			Allowed: "must not be negative; 0 means 50ms",
		},
	}
	for i, name := range h.WaitHeaders {
		rules = append(rules, backstay.Setting{
			Path: fmt.Sprintf("wait_headers[%d]", i), Value: strconv.Quote(name),
			Valid:   name != "" && !strings.ContainsFunc(name, notInName),
			Allowed: "must be the name of a header, such as retry-after-ms",
		})
	}
	return backstay.Check(rules...)
}

// notInName reports whether r does not occur in the names of headers.
func notInName(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

func (k Keys) validate() error {
	return backstay.Check(
		backstay.Setting{
			Path: "max", Value: k.Max, Valid: k.Max >= 0,
			Allowed: "must not be negative; 0 means 10,000",
		},
		backstay.Setting{
			Path: "idle_after", Value: k.IdleAfter, Valid: k.IdleAfter >= 0,
			Allowed: "must not be negative; 0 means 10m",
		},
	)
}
