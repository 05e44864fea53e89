package runtime

import (
	"slices"
	"sync"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// scratch has buffers to encode into, so that what is kept is of its very size
// and was allocated once.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// mostScratch is the size above which a buffer is not kept.
const mostScratch = 64 << 10

// encode is record.Encode.
func encode(r record.Record) []byte {
	room, _ := scratch.Get().(*[]byte)
	*room = record.Append((*room)[:0], r)
	data := slices.Clone(*room)
	if cap(*room) <= mostScratch {
		scratch.Put(room)
	}
	return data
}
