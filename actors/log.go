package actors

import "github.com/backstay-go/backstay/actors/journal"

// Log is what actors run on: see package journal for the port, package memory
// for one within the process.
type Log = journal.Log
