package actors

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// kinds are the runtime's events in the words of the module.
var kinds = map[runtime.EventKind]backstay.Kind{
	runtime.PartitionOwned: backstay.PartitionOwned,
	runtime.PartitionLost:  backstay.PartitionLost,
	runtime.ClaimFailed:    backstay.PartitionRefused,
	runtime.ClaimRefused:   backstay.PartitionRefused,
	runtime.MethodDone:     backstay.StepDone,
	runtime.AttemptFailed:  backstay.StepFailed,
	runtime.RequestGivenUp: backstay.RequestGivenUp,
	runtime.DeadLetter:     backstay.DeadLetter,
	runtime.OutputLost:     backstay.OutputLost,
	runtime.RecordSkipped:  backstay.RecordSkipped,
	runtime.SnapshotSaved:  backstay.SnapshotSaved,
	runtime.SnapshotFailed: backstay.SnapshotFailed,
	runtime.HookPanicked:   backstay.CallbackPanicked,
	runtime.Congested:      backstay.OutboxCongested,
	runtime.AppendFailed:   backstay.LogFailed,
	runtime.LoadFailed:     backstay.LogFailed,
}

// watcher is what the runtime tells, nil if nobody wants to know.
func (n *Node) watcher() func(runtime.Event) {
	if n.observer == nil {
		return nil
	}
	return n.observe
}

// observe tells the node's observer. Only errors name actors by id: there is
// no bound to their number.
func (n *Node) observe(e runtime.Event) {
	kind, ok := kinds[e.Kind]
	if !ok {
		return
	}
	s := backstay.Scope{Policy: e.Partition.Type, Key: e.Partition.String(), Observer: n.observer}
	s.Emit(context.Background(), backstay.Event{
		Kind: kind, Operation: e.Method, Attempt: int(min(e.Attempt, 1<<31-1)), Err: e.Err,
		Reason: backstay.Reason(strings.TrimPrefix(e.Code, methodCode)), Outcome: outcomeOf(e), Wait: e.Wait, Elapsed: e.Elapsed,
	})
	if e.Takeover != nil {
		observePhases(&s, e.Takeover)
	}
}

// observePhases tells where the time of a takeover went.
func observePhases(s *backstay.Scope, t *inspect.Takeover) {
	for _, phase := range []struct {
		name backstay.Reason
		took time.Duration
	}{{backstay.ReasonSnapshot, t.Snapshot}, {backstay.ReasonReplay, t.Replay}, {backstay.ReasonFence, t.Fence}} {
		s.Emit(context.Background(), backstay.Event{Kind: backstay.TakeoverPhase, Reason: phase.name, Elapsed: phase.took})
	}
}

// outcomeOf judges how a step ended.
func outcomeOf(e runtime.Event) backstay.Outcome {
	switch {
	case e.Kind == runtime.AttemptFailed:
		return backstay.Outcome{Class: backstay.Transient}
	case e.Kind == runtime.RequestGivenUp, e.Code != "":
		return backstay.Outcome{Class: backstay.Permanent}
	default:
		return backstay.Outcome{}
	}
}

func (n *Node) notePassivation(ctx context.Context, actorType string, err error) {
	if n.observer == nil {
		return
	}
	s := backstay.Scope{Policy: actorType, Observer: n.observer}
	s.Emit(ctx, backstay.Event{Kind: backstay.PassivationFailed, Err: fmt.Errorf("actors: passivate: %w", err)})
}
