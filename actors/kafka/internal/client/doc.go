// Package client turns a user's configuration of sarama into those that actors
// need: one for each role, since a producer that shares the connections of a
// consumer waits for its long polls.
package client
