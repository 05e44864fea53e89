package actors

import (
	"context"
	"time"
)

// Inspection is how a node is, for people and for the console.
type Inspection struct {
	Name string `json:"name"`
	// Partitions are those that it owns or claims.
	Partitions []PartitionInspection `json:"partitions"`
	// Calls are the root calls of this process that wait for an answer.
	Calls int `json:"calls"`
}

// PartitionInspection is how a partition is on its node.
type PartitionInspection struct {
	Type  string `json:"type"`
	Index uint32 `json:"index"`
	// Phase is claiming, owning, draining, waiting (to claim again) or refused.
	Phase string `json:"phase"`
	// Epoch is the fencing token.
	Epoch uint64 `json:"epoch"`
	// Next is the offset of the next record.
	Next int64 `json:"next"`
	// Requests wait or run, of so many Actors.
	Requests int `json:"requests"`
	Actors   int `json:"actors"`
	// Deepest is the id of the actor with the most requests, Depth how many.
	Deepest string `json:"deepest,omitempty"`
	Depth   int    `json:"depth,omitempty"`
	// Oldest is the age of the oldest request.
	Oldest time.Duration `json:"oldest"`
	// Running are the methods that run or wait for others.
	Running []InvocationInspection `json:"running,omitempty"`
	// Outputs wait to be forwarded.
	Outputs int `json:"outputs"`
	// Instances are active.
	Instances int           `json:"instances"`
	Takeover  TakeoverTimes `json:"takeover"`
	Error     string        `json:"error,omitempty"`
}

// TakeoverTimes say what the last takeover took.
type TakeoverTimes struct {
	Assigned time.Time     `json:"assigned"`
	Snapshot time.Duration `json:"snapshot"`
	Replay   time.Duration `json:"replay"`
	Takeover time.Duration `json:"takeover"`
	Records  int           `json:"records"`
}

// InvocationInspection is a method that runs.
type InvocationInspection struct {
	ID        string        `json:"id"`
	Method    string        `json:"method"`
	RequestID string        `json:"request_id"`
	Attempt   uint64        `json:"attempt"`
	Since     time.Duration `json:"since"`
	// Waiting are the calls that it waits for.
	Waiting []string `json:"waiting,omitempty"`
}

// Inspect tells how the node's partitions are.
func (n *Node) Inspect(ctx context.Context) Inspection {
	from := n.runtime.Inspect(ctx)
	to := Inspection{Name: from.Name, Calls: from.Calls, Partitions: make([]PartitionInspection, len(from.Partitions))}
	for i, p := range from.Partitions {
		to.Partitions[i] = PartitionInspection{
			Type: p.Partition.Type, Index: p.Partition.Index, Phase: string(p.Phase), Epoch: p.Epoch, Next: p.Next,
			Requests: p.Requests, Actors: p.Actors, Deepest: p.Deepest, Depth: p.Depth, Oldest: p.Oldest,
			Outputs: p.Outputs, Instances: p.Instances, Takeover: TakeoverTimes(p.Claim),
		}
		if p.Err != nil {
			to.Partitions[i].Error = p.Err.Error()
		}
		for _, a := range p.Running {
			to.Partitions[i].Running = append(to.Partitions[i].Running, InvocationInspection{
				ID: a.Actor, Method: a.Method, RequestID: a.ID.String(), Attempt: a.Attempt, Since: a.Since, Waiting: a.Waiting,
			})
		}
	}
	return to
}

// Health returns nil if the node owns everything it was assigned and nothing
// keeps it from its work; otherwise everything that is wrong, one error each,
// joined. After Stop it is [ErrStopped]. It does not wait.
func (n *Node) Health() error {
	if n.ctx.Err() != nil {
		return ErrStopped
	}
	return healthError(n.runtime.Health())
}
