// Package actors runs the state store of actors on Redis against a real
// redis-server.
package actors
