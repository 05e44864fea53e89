package middleware

import "github.com/backstay-go/backstay"

// What an observer is told where policies come from a file that is followed;
// see package policyfile. Policy is the path of the file, or the name of a
// target or of the server.
const (
	// PoliciesLoaded says that another version of the file is in force.
	PoliciesLoaded backstay.Kind = "policies loaded"
	// PoliciesRefused says that the file could not be read or has faults, and
	// that the last good version stays in force; Err says why.
	PoliciesRefused backstay.Kind = "policies refused"
	// PolicyAdded says that a target, or the server, has come.
	PolicyAdded backstay.Kind = "policy added"
	// PolicyChanged says that a target, or the server, is another one now.
	PolicyChanged backstay.Kind = "policy changed"
	// PolicyRemoved says that a target, or the server, has gone. What was built
	// from it stays as it is, but a router gives its requests to what matches
	// them now, or else to [Unmatched].
	PolicyRemoved backstay.Kind = "policy removed"
	// PolicyNotApplied says that what was built from a target could not take
	// its new version, or not all of it; Err says why.
	PolicyNotApplied backstay.Kind = "policy not applied"
)
