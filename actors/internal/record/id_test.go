package record_test

import (
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

func TestChildIDsTellPartitionEpochAndCounterApart(t *testing.T) {
	seen := make(map[record.ID]bool)
	for _, p := range []record.Partition{here, there, {Type: "account", Index: 4}} {
		for _, epoch := range []uint64{1, 2, record.MaxEpoch} {
			for _, counter := range []uint64{0, 1, 256, 1 << 32, record.MaxCounter} {
				id := record.ChildID(p, epoch, counter)
				if seen[id] || id.Zero() {
					t.Errorf("%v %d %d: %v is taken", p, epoch, counter, id)
				}
				seen[id] = true
			}
		}
	}
}

func TestAnIDThatCannotBeToldApartIsNotMade(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an epoch of 33 bits made an id")
		}
	}()
	record.ChildID(here, 1<<32, 0)
}

func TestIngestIDsAreThoseOfTheirOffsets(t *testing.T) {
	a := record.IngestID("orders", 1, 12)
	if a != record.IngestID("orders", 1, 12) || a == record.IngestID("orders", 11, 2) || a == record.IngestID("orders1", 1, 2) {
		t.Error("ids of different offsets are the same, or the other way round")
	}
}

// The expectations are those of Kafka's own test of Utils.murmur2.
func TestActorsLiveWhereKafkaPutsTheirKeys(t *testing.T) {
	for key, hash := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		if got := record.PartitionOf(key, 1<<30); got != uint32(hash)&0x7fffffff%(1<<30) {
			t.Errorf("%q: %d", key, got)
		}
	}
	if record.PartitionOf("alice", 0) != 0 {
		t.Error("no partitions")
	}
}
