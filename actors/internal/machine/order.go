package machine

import (
	"bytes"
	"cmp"
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

func compareIDs(a, b record.ID) int { return bytes.Compare(a[:], b[:]) }
