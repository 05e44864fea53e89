package journal

import "context"

// Member is a process that wants to own partitions.
type Member struct {
	// Name is for people: logs, reports.
	Name string
	// Methods are those that the process has, by type of actors: it takes
	// partitions of these types.
	Methods map[string][]string
}

// Membership is a process's share of the partitions. It may be wrong: a member
// that was given up can be told late.
type Membership interface {
	// Assigned returns the partitions that the process should own now, and a
	// channel that is closed as soon as that is no longer so.
	Assigned() (all []Partition, changed <-chan struct{})
	// Members are those that are in now, this one included.
	Members() []Member
	// Leave gives the partitions up and waits until that is known; ctx bounds
	// the wait.
	Leave(ctx context.Context) error
}
