package machine

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// Nothing here may depend on the order of maps.

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	keys = slices.AppendSeq(keys, maps.Keys(m))
	slices.Sort(keys)
	return keys
}

func compareIDs(a, b record.ID) int {
	if c := cmp.Compare(binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:])); c != 0 {
		return c
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:]), binary.BigEndian.Uint64(b[8:]))
}
