//go:build race

package testkit

// Race is true in builds with the race detector, which allocates on its own:
// allocation gates are skipped there.
const Race = true
