package actors

import (
	"errors"
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/runtime"
)

// errNotReady is the problem of a node that has not taken over all of its
// partitions yet.
var errNotReady = errors.New("actors: partitions are being taken over")

func healthError(h runtime.Health) error {
	if h.Ready && len(h.Problems) == 0 {
		return nil
	}
	var all []error
	for _, p := range h.Problems {
		all = append(all, fmt.Errorf("actors: partition %v: %w", p.Partition, p.Err))
	}
	if len(all) == 0 {
		all = append(all, errNotReady)
	}
	return errors.Join(all...)
}
