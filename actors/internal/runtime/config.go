package runtime

import (
	"cmp"
	"time"

	"github.com/backstay-go/backstay/actors/internal/cellar"
	"github.com/backstay-go/backstay/actors/journal"
)

// Config is how a node behaves. Zero fields have the default that is said.
type Config struct {
	// Name is for people: reports, Takeover records.
	Name string
	// Types are those that this process hosts; none for a mere client.
	Types []Type
	// Opened is given the node before anything runs on it. nil is nobody.
	Opened func(*Node)
	// Observe is told what happens, from any goroutine; it must be quick. nil
	// tells nobody.
	Observe func(Event)
	// Dead is told of every dead letter, with the message that is published: by
	// the loop of a partition, so it must be quick. At least once: also of those
	// that an owner before has not sent for sure. nil tells nobody.
	Dead func(journal.Message)
	// DeadTopic is the ordinary topic of dead letters; empty means none.
	DeadTopic string
	// Window is how long answers of roots are kept, and by how much copies of
	// one request may differ in age, 5 min. It is fixed for ever by the first
	// owner of a log, like the number of partitions.
	Window time.Duration
	// Resend is the wait before a client asks again, 1 s; it grows to ten times
	// that.
	Resend time.Duration
	// Patience is how long an append may be of unknown outcome before its
	// owner gives the partition up and claims it again, 30 s.
	Patience time.Duration
	// ClaimBackoff is the longest first wait after a claim that failed, 100 ms;
	// it doubles up to 50 times that, with jitter.
	ClaimBackoff time.Duration
	// SnapshotRecords and SnapshotBytes are after how much log a snapshot is
	// made, 10,000 and 16 MiB; ChunkSize is above how many bytes a part of the
	// cells is split, 16 KiB.
	SnapshotRecords int
	SnapshotBytes   int64
	ChunkSize       int
	// State keeps the cells of actors, if not nil; else they are in the chunks
	// of snapshots. It is fixed by the first snapshot.
	State journal.StateStore
	// IdleBytes is how much memory, about, the idle actors of a partition may
	// take with their cells: above it the longest idle ones are passivated
	// before their time. 64 MiB.
	IdleBytes int64
	// OutboxBytes is above how many waiting bytes to one destination a
	// partition begins no requests, 16 MiB.
	OutboxBytes int64
	// MaxRecord is the size in bytes above which calls, tells and results are
	// refused before they are appended, 900 KiB.
	MaxRecord int
	// MaxAnswer is the size in bytes above which a root's result is replaced by
	// CodeTooLarge, since homes keep it, 64 KiB. Negative means no bound.
	MaxAnswer int
}

func (c Config) withDefaults() Config {
	c.Window = cmp.Or(c.Window, 5*time.Minute)
	c.Resend = cmp.Or(c.Resend, time.Second)
	c.Patience = cmp.Or(c.Patience, 30*time.Second)
	c.ClaimBackoff = cmp.Or(c.ClaimBackoff, 100*time.Millisecond)
	c.SnapshotRecords = cmp.Or(c.SnapshotRecords, 10_000)
	c.SnapshotBytes = cmp.Or(c.SnapshotBytes, 16<<20)
	c.ChunkSize = cmp.Or(c.ChunkSize, cellar.ChunkSize)
	c.IdleBytes = cmp.Or(c.IdleBytes, 64<<20)
	c.OutboxBytes = cmp.Or(c.OutboxBytes, 16<<20)
	c.MaxRecord = cmp.Or(c.MaxRecord, 900<<10)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, 64<<10)
	return c
}

func (s Settings) withDefaults() Settings {
	s.MaxAttempts = cmp.Or(s.MaxAttempts, DefaultMaxAttempts)
	s.StepTimeout = cmp.Or(s.StepTimeout, DefaultStepTimeout)
	s.IdleAfter = cmp.Or(s.IdleAfter, DefaultIdleAfter)
	s.BusyAfter = cmp.Or(s.BusyAfter, DefaultBusyAfter)
	s.Mailbox = cmp.Or(s.Mailbox, DefaultMailbox)
	s.Depth = cmp.Or(s.Depth, DefaultDepth)
	if s.Backoff == nil {
		s.Backoff = defaultBackoff
	}
	return s
}
