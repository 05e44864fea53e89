package machine

import "github.com/backstay-go/backstay/actors/internal/record"

// State is a partition as of some record of its log. Make it with [New] or
// [Restore]; change it with [State.Apply] alone.
type State struct {
	self       record.Partition
	partitions uint32 // of the type; 0 before the first Takeover
	window     int64  // by how much copies of one request may differ in until, ms
	epoch      uint64
	clock      int64 // the largest append time seen

	residents map[string]*resident
	entries   index[*Entry]
	in        map[record.Partition]uint64
	out       map[record.Dest]*outbox
	roots     roots
	reminders map[string]map[string]*Reminder
	delayed   map[record.ID]*record.Request
	ingress   map[source]uint64

	changed []string // actors with fresh cells, each once
	taken   []string // actors with captured cells

	// No part of the state: what the last record's effects and actors that are
	// gone took is used again.
	scratch  Effects
	spare    []*resident
	gone     []*Entry // by the last record
	blanks   []*Entry
	coreSize int // of the last one that was written
}

// mostSpare is how many of each are kept to be used again.
const mostSpare = 64

// source is a partition of a topic that messages are ingested from.
type source struct {
	topic     string
	partition uint32
}

// New is the state before the first record of a log.
func New(self record.Partition) *State {
	return &State{
		self:      self,
		residents: make(map[string]*resident),
		in:        make(map[record.Partition]uint64),
		out:       make(map[record.Dest]*outbox),
		reminders: make(map[string]map[string]*Reminder),
		delayed:   make(map[record.ID]*record.Request),
		ingress:   make(map[source]uint64),
	}
}

// Self is the partition.
func (s *State) Self() record.Partition { return s.self }

// Epoch is that of the last Takeover, 0 before the first.
func (s *State) Epoch() uint64 { return s.epoch }

// Clock is the largest append time seen: the log's own time, in milliseconds.
func (s *State) Clock() int64 { return s.clock }

// Fixed are what the first Takeover settled for ever: the number of partitions
// of the type, and the window of untils in milliseconds. A program that is
// configured otherwise must not own the partition.
func (s *State) Fixed() (partitions uint32, window int64) { return s.partitions, s.window }

// Ingested is the position of a partition of a source topic: the next offset to
// ingest and 1, or 0 if nobody has begun.
func (s *State) Ingested(topic string, partition uint32) uint64 {
	return s.ingress[source{topic, partition}]
}

// Received is the number of the last mail accepted from a partition.
func (s *State) Received(from record.Partition) uint64 { return s.in[from] }
