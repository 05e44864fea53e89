package console

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
)

const (
	// shownMethods is how many methods that run are shown, shownWaits for how
	// many others each waits, shownTrouble how many partitions that need a look.
	shownMethods = 12
	shownWaits   = 4
	shownTrouble = 12
	// shownPartitions is how many partitions of one type have a mark.
	shownPartitions = 256
	// shownMembers is how many names of processes are told.
	shownMembers = 20
	// overdue is the age of the oldest request from which a partition is
	// strained.
	overdue = 30 * time.Second
)

// Actors are the nodes of actors of a process.
type Actors struct {
	Nodes []Node `json:"nodes"`
	// Partitions are those that are assigned, Owned those of them that are owned,
	// and NeedLook those that are not, or whose oldest request has waited for
	// half a minute.
	Partitions int `json:"partitions"`
	Owned      int `json:"owned"`
	NeedLook   int `json:"need_look"`
	// Requests wait in mailboxes or run, Methods run, Outputs wait to be
	// forwarded, and Oldest is the age of the oldest request.
	Requests int     `json:"requests"`
	Methods  int     `json:"methods"`
	Outputs  int     `json:"outputs"`
	Oldest   float64 `json:"oldest_ms"`
	// Types are in order of their trouble; TypesLeft is how many are left out.
	Types     []ActorType `json:"types"`
	TypesLeft int         `json:"types_left,omitempty"`
	// Trouble are the partitions that need a look, at most 12.
	Trouble []ActorPartition `json:"trouble"`
	// Running are the methods that have run for longest, at most 12.
	Running []ActorMethod `json:"running"`

	troubled []found
	running  []found
}

// found is something that may be shown, if nothing else needs it more.
type found struct {
	node   string
	in     *inspect.Partition
	level  level
	method *inspect.Invocation
}

// Node is one node.
type Node struct {
	Name string `json:"name"`
	// Self is what the node calls itself among its Members.
	Self        string   `json:"self"`
	Members     []string `json:"members,omitempty"`
	Stopped     bool     `json:"stopped,omitempty"` // or drained
	Calls       int      `json:"calls"`
	DeadLetters uint64   `json:"dead_letters"`
}

// ActorType sums up the partitions of a type that a node has.
type ActorType struct {
	Node  string `json:"node"`
	Type  string `json:"type"`
	Level string `json:"level"`
	// Levels are those of the partitions, in the order of their numbers.
	Levels    []string `json:"levels"`
	Owned     int      `json:"owned"`
	Count     int      `json:"partitions"`
	Requests  int      `json:"requests"`
	Actors    int      `json:"actors"`
	Deepest   string   `json:"deepest,omitempty"`
	Depth     int      `json:"depth,omitempty"`
	Oldest    float64  `json:"oldest_ms"`
	Methods   int      `json:"methods"`
	Outputs   int      `json:"outputs"`
	Instances int      `json:"instances"`
	// Takeover is the slowest of the last ones of the partitions; null if there
	// was none.
	Takeover *Takeover `json:"takeover"`

	of    string // Type, whole
	level level
}

// Takeover is how long one took, by phases.
type Takeover struct {
	At       int64   `json:"assigned_at"`
	Index    uint32  `json:"index"`
	Whole    float64 `json:"whole_ms"`
	Snapshot float64 `json:"snapshot_ms"`
	Replay   float64 `json:"replay_ms"`
	Fence    float64 `json:"fence_ms"`
	Records  int     `json:"records"`
}

// ActorPartition is one that needs a look.
type ActorPartition struct {
	Node      string  `json:"node"`
	Partition string  `json:"partition"`
	Phase     string  `json:"phase"`
	Level     string  `json:"level"`
	Requests  int     `json:"requests"`
	Deepest   string  `json:"deepest,omitempty"`
	Oldest    float64 `json:"oldest_ms"`
	Error     string  `json:"error,omitempty"`
}

// ActorMethod is a method that runs, or waits for others.
type ActorMethod struct {
	Actor   string   `json:"actor"`
	Method  string   `json:"method"`
	Request string   `json:"request"`
	Link    uint64   `json:"link,omitempty"`
	Attempt uint64   `json:"attempt"`
	For     float64  `json:"for_ms"`
	Waits   []string `json:"waits,omitempty"`
	Left    int      `json:"waits_left,omitempty"`
}

// judgePartition decides how much attention a partition needs.
func judgePartition(p *inspect.Partition) level {
	switch {
	case p.Phase == inspect.Refused || p.Phase == inspect.Waiting:
		return down
	case p.Phase != inspect.Owning:
		return recovering
	case p.Oldest >= overdue:
		return strained
	case p.Requests == 0 && p.Outputs == 0:
		return idle
	default:
		return well
	}
}

// add counts a node in.
func (a *Actors) add(name string, n *inspect.Node) {
	shown := Node{Name: clip(name, shownName), Self: clip(n.Name, shownName), Stopped: n.Stopped, Calls: n.Calls, DeadLetters: n.DeadLetters}
	for _, m := range n.Members[:min(len(n.Members), shownMembers)] {
		shown.Members = append(shown.Members, clip(m, shownName))
	}
	a.Nodes = append(a.Nodes, shown)
	for i := range n.Partitions {
		p := &n.Partitions[i]
		l := judgePartition(p)
		a.sum(p, l)
		a.typeOf(shown.Name, p.Type).add(p, l)
		if l <= strained {
			a.troubled = append(a.troubled, found{node: shown.Name, in: p, level: l})
		}
		for j := range p.Running {
			a.running = append(a.running, found{in: p, method: &p.Running[j]})
		}
	}
}

func (a *Actors) sum(p *inspect.Partition, l level) {
	a.Partitions++
	if p.Phase == inspect.Owning {
		a.Owned++
	}
	if l <= strained {
		a.NeedLook++
	}
	a.Requests += p.Requests
	a.Methods += p.Methods
	a.Outputs += p.Outputs
	a.Oldest = max(a.Oldest, ms(p.Oldest))
}

// typeOf returns the type's entry. The partitions of a type follow each other.
func (a *Actors) typeOf(node, name string) *ActorType {
	if last := len(a.Types) - 1; last >= 0 && a.Types[last].Node == node && a.Types[last].of == name {
		return &a.Types[last]
	}
	a.Types = append(a.Types, ActorType{Node: node, Type: clip(name, shownName), of: name, level: shut})
	return &a.Types[len(a.Types)-1]
}

func (t *ActorType) add(p *inspect.Partition, l level) {
	t.Count++
	if p.Phase == inspect.Owning {
		t.Owned++
	}
	if len(t.Levels) < shownPartitions {
		t.Levels = append(t.Levels, l.String())
	}
	t.level = min(t.level, l)
	t.Requests += p.Requests
	t.Actors += p.Actors
	t.Methods += p.Methods
	t.Outputs += p.Outputs
	t.Instances += p.Instances
	t.Oldest = max(t.Oldest, ms(p.Oldest))
	if p.Depth > t.Depth {
		t.Depth, t.Deepest = p.Depth, clip(p.Deepest, shownName)
	}
	if x := takeover(p); x != nil && (t.Takeover == nil || x.Whole > t.Takeover.Whole) {
		t.Takeover = x
	}
}

// takeover is the last one of a partition; nil if there was none.
func takeover(p *inspect.Partition) *Takeover {
	t := &p.Takeover
	if t.Assigned.IsZero() {
		return nil
	}
	return &Takeover{
		At: t.Assigned.UnixMilli(), Index: p.Index, Whole: ms(t.Snapshot + t.Replay + t.Fence),
		Snapshot: ms(t.Snapshot), Replay: ms(t.Replay), Fence: ms(t.Fence), Records: t.Records,
	}
}

func (f *found) partition() ActorPartition {
	p := f.in
	return ActorPartition{
		Node: f.node, Partition: clip(p.Type, shownName) + "/" + strconv.FormatUint(uint64(p.Index), 10), Phase: string(p.Phase),
		Level: f.level.String(), Requests: p.Requests, Deepest: clip(p.Deepest, shownName), Oldest: ms(p.Oldest), Error: clip(p.Error, longest),
	}
}

func (f *found) run() ActorMethod {
	r := f.method
	shown := ActorMethod{
		Actor: clip(f.in.Type+"/"+r.ID, shownName), Method: clip(r.Method, shownName), Request: r.RequestID,
		Link: r.Link, Attempt: r.Attempt, For: ms(r.Since), Left: max(len(r.Waiting)-shownWaits, 0),
	}
	for _, w := range r.Waiting[:min(len(r.Waiting), shownWaits)] {
		shown.Waits = append(shown.Waits, clip(w, shownName))
	}
	return shown
}

// settle puts what needs a look first, and cuts off what is too much.
func (a *Actors) settle(rows int) {
	for i := range a.Types {
		a.Types[i].Level = a.Types[i].level.String()
	}
	slices.SortStableFunc(a.Types, func(x, y ActorType) int { return cmp.Compare(x.level, y.level) })
	slices.SortStableFunc(a.troubled, func(x, y found) int { return cmp.Compare(x.level, y.level) })
	slices.SortStableFunc(a.running, func(x, y found) int { return cmp.Compare(y.method.Since, x.method.Since) })
	a.TypesLeft = max(len(a.Types)-rows, 0)
	a.Types = a.Types[:len(a.Types)-a.TypesLeft]
	for _, f := range a.troubled[:min(len(a.troubled), shownTrouble)] {
		a.Trouble = append(a.Trouble, f.partition())
	}
	for _, f := range a.running[:min(len(a.running), shownMethods)] {
		a.Running = append(a.Running, f.run())
	}
	a.troubled, a.running = nil, nil
}
