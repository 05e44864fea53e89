package direct

import "crypto/tls"

// Config is what both sides of an application's connections have in common.
type Config struct {
	// App and Token must be the same on both sides.
	App, Token string
	// TLS is that of both sides; nil means none.
	TLS *tls.Config
	// Largest is the size in bytes of the largest answer.
	Largest int
	// Connections is how many an owner has at once, those in their handshake
	// included.
	Connections int
	// Tell is told of a peer that was turned away, with its address; and of every
	// attempt to connect to an owner, nil if it has succeeded, and of connections
	// that break. It is called from any goroutine.
	Tell func(peer string, err error)
}
