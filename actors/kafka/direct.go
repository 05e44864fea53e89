package kafka

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/kafka/internal/direct"
)

// Direct is the configuration of direct answers: who waits for answers keeps a
// connection to every process that hosts actors, and gets over it what else
// comes over the topic of answers. Whatever is in its way, the topic serves.
type Direct struct {
	// Listen is where a process that hosts actors takes connections, as
	// "host:port", or ":port" for all its addresses; it does so from its first
	// Join on. Empty means that this process answers over the topic, and only
	// takes direct answers.
	Listen string `json:"listen,omitempty" yaml:"listen,omitempty"`
	// Advertise is the address that clients reach Listen by. Port 0 means the
	// one that was opened. Empty means that of Listen, which must have a host
	// then.
	Advertise string `json:"advertise,omitempty" yaml:"advertise,omitempty"`
	// TLS is for both sides: Certificates and ClientCAs are used by those who
	// listen, RootCAs and, where owners ask for them, Certificates by those who
	// connect. Without a ServerName, owners need a certificate for the host of
	// their address. nil means no TLS: then who is on the network between can
	// read answers, and forge them.
	TLS *tls.Config `json:"-" yaml:"-"`
	// Token is a secret that all processes of the application know, of at least
	// 16 bytes. Both sides prove that they know it, and it is never sent.
	Token string `json:"-" yaml:"-"`
	// Connections is how many an owner has at once; further clients get their
	// answers over the topic. 0 means [DefaultConnections].
	Connections int `json:"connections,omitempty" yaml:"connections,omitempty"`
	// OnError is told, with the address of the other side, that a client was
	// turned away, that an owner could not be reached, and that a connection to
	// one broke. It is called from any goroutine and must be quick. nil tells
	// nobody; Health counts in any case.
	OnError func(peer string, err error) `json:"-" yaml:"-"`
}

// DefaultConnections is how many clients an owner has connections to.
const DefaultConnections = 4096

// ErrToken matches the errors of direct connections whose sides have different
// tokens or applications.
var ErrToken = direct.ErrToken

// leastToken is the length in bytes that a token must have: who hears a
// handshake could try all shorter ones.
const leastToken = 16

// Validate returns every fault at once, each a [backstay.FieldError].
func (d *Direct) Validate() error {
	if d == nil {
		return nil
	}
	return backstay.Check(
		backstay.Setting{Path: "listen", Value: d.Listen, Valid: d.Listen == "" || isAddress(d.Listen), Allowed: "must be host:port or :port"},
		backstay.Setting{Path: "advertise", Value: d.Advertise, Valid: d.advertisable(), Allowed: "must be host:port as clients reach it, and may be empty only if listen is so, or has such a host"},
		backstay.Setting{Path: "token", Value: "of " + strconv.Itoa(len(d.Token)) + " bytes", Valid: len(d.Token) >= leastToken, Allowed: "must have at least 16 bytes"},
		backstay.Setting{Path: "tls", Value: "without a certificate", Valid: d.Listen == "" || d.TLS == nil || certified(d.TLS), Allowed: "must have one where listen is set"},
		backstay.Setting{Path: "connections", Value: d.Connections, Valid: d.Connections >= 0, Allowed: "must be at least 1, or 0 for the default of 4096"},
	)
}

func (d *Direct) advertisable() bool {
	if d.Listen == "" {
		return d.Advertise == ""
	}
	return isAddress(cmp.Or(d.Advertise, d.Listen)) && reachable(cmp.Or(d.Advertise, d.Listen))
}

func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// reachable reports whether an address has a host, and not "any".
func reachable(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return host != "" && (err != nil || !ip.IsUnspecified())
}

func certified(c *tls.Config) bool {
	return len(c.Certificates) > 0 || c.GetCertificate != nil || c.GetConfigForClient != nil
}

// advertised is the address that clients are told, where this one was opened.
func (d *Direct) advertised(opened net.Addr) string {
	host, port, _ := net.SplitHostPort(cmp.Or(d.Advertise, d.Listen))
	if port == "0" {
		_, port, _ = net.SplitHostPort(opened.String())
	}
	return net.JoinHostPort(host, port)
}

// DirectHealth is how direct answers go.
type DirectHealth struct {
	// Owners are those that this process has a connection to, Clients those who
	// have one to it.
	Owners, Clients int
	// Sent are the answers that this process wrote to connections, Detoured
	// those it sent over the topic though the client was connected: the
	// connection was behind, or broke. They may have arrived both ways.
	Sent, Detoured uint64
	// Connections of clients that were turned away: the token or the
	// application was another one; the handshake took longer than 5 s; there
	// were too many; or they failed or sent what is no part of the protocol.
	WrongToken, Late, TooMany, Faulty uint64
}
