package main

import (
	"errors"
	"fmt"
	"time"
)

// size is an application.
type size struct {
	processes, partitions, brokers int
	rate                           int // calls a second
	changed                        int // bytes of cells that a call changes
}

func (s size) check() error {
	if s.processes < 1 || s.partitions < 1 || s.brokers < 1 || s.rate < 0 || s.changed < 0 {
		return errors.New("processes, partitions and brokers must be at least 1, rate and changed not negative")
	}
	return nil
}

// What package actors/kafka does: see its membership and its settings.
const (
	beatEvery   = 200 * time.Millisecond
	beatSpacing = 10 * time.Millisecond // 100 beats a second in a large group
	suspect     = 600 * time.Millisecond
	missedBeats = 3
	heartbeat   = 200 * time.Millisecond
	fetchWait   = 100 * time.Millisecond
	records     = 10000 // of a partition between two snapshots
	roles       = 4     // clients of a process: producer, consumer, group, admin
	topicsOf    = 3     // of a type: log, own, state
	metadata    = 10 * time.Minute
)

// What a message of the protocol takes.
const (
	beatBytes      = 250 // with the methods of a few types
	partitionBytes = 46  // of a metadata response, three replicas
	fetchBytes     = 32  // of a fetch request, a partition
	memberBytes    = 150 // of a rebalance, beside the partitions
	counterBytes   = 8   // of a partner partition, in or out
	callRecords    = 2
	recordBytes    = 300
)

type row struct{ what, figure string }

func (s size) rows() []row {
	beat := max(beatEvery, time.Duration(s.processes)*beatSpacing)
	beats := float64(s.processes) / beat.Seconds()
	owned := float64(s.partitions) / float64(s.processes)
	perPartition := float64(s.rate) * callRecords / float64(s.partitions)
	allMetadata := s.partitions * topicsOf * partitionBytes
	return []row{
		{"processes, partitions", fmt.Sprintf("%d, %d", s.processes, s.partitions)},
		{"brokers, calls a second", fmt.Sprintf("%d, %d", s.brokers, s.rate)},
		{"partitions a process", fmt.Sprintf("%.1f", owned)},
		{"records a second and partition", fmt.Sprintf("%.1f", perPartition)},
		{"interval of beats", beat.String()},
		{"a death is noticed after", fmt.Sprintf("%v to %v", max(suspect, missedBeats*beat), max(suspect, missedBeats*beat)+beat)},
		{"beats written a second, and read by all", fmt.Sprintf("%.0f, %s/s", beats, bytes(beats*beatBytes*float64(s.processes)))},
		{"heartbeats a second at the group's coordinator", fmt.Sprintf("%.0f", float64(s.processes)/heartbeat.Seconds())},
		{"one rebalance, in and out of the coordinator", bytes(2 * float64(s.processes*memberBytes+s.partitions*fetchBytes))},
		{"metadata a process, full", bytes(float64(allMetadata))},
		{"metadata of all, refreshed every 10 min", bytes(float64(allMetadata*s.processes)*roles/metadata.Seconds()) + "/s"},
		{"metadata of all after a leader has moved", bytes(float64(allMetadata * s.processes * roles))},
		{"fetch requests a second, idle", fmt.Sprintf("%.0f, %s each", float64(s.processes*min(s.brokers, int(owned)+1))/fetchWait.Seconds(), bytes(fetchBytes*max(1, owned/float64(s.brokers))))},
		{"connections a broker", fmt.Sprint(s.processes * roles)},
		{"log written, before replication", bytes(float64(s.rate)*callRecords*recordBytes) + "/s"},
		{"a snapshot of a partition every", time.Duration(records / max(perPartition, 1e-9) * float64(time.Second)).Round(time.Second).String()},
		{"cells written by snapshots, at most", bytes(float64(s.rate*s.changed)) + "/s"},
		{"counters in and out, a partition that all others send to", bytes(float64(2 * counterBytes * s.partitions))},
	}
}

// bytes prints an amount for people.
func bytes(n float64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g GB", n)
}
