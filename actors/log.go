package actors

import "github.com/backstay-go/backstay/actors/journal"

// Log is what actors run on: see package journal for the port, package memory
// for one within the process.
type Log = journal.Log

// StateStore keeps the cells of actors beside the log: see package journal for
// the port, package redis for one in Redis.
type StateStore = journal.StateStore
