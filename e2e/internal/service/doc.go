// Package service starts real servers for tests: each on a loopback port and
// in a folder of its own, for one test or one package of tests. It can stop
// them in the middle of anything, and leaves nothing running: not at the end of
// the test, nor, on Linux, when the process of the tests is killed.
//
// A server that is not installed fails the test, and says how to install it:
// a test that was skipped looks like one that passed.
//
//	process.go  what all servers have in common
//	output.go   what a server prints
//	port.go     where it listens
//	redis.go    redis-server
package service
