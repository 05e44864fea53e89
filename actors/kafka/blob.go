package kafka

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/backstay-go/backstay/actors/journal"
)

// save is one act of saving. Its writer is random, so that nothing that two of
// them write has the same key: what one deletes is never what another has just
// written.
type save struct {
	At     int64  `json:"at"`
	Writer string `json:"writer"`
}

// blob is a part of a snapshot, in pieces that fit into a record each: the core,
// or a chunk.
type blob struct {
	save
	name string
}

const coreName = "core"

// chunkName is unique among what one save writes: it may write a chunk that is
// older than itself anew.
func chunkName(c journal.Chunk) string { return fmt.Sprintf("%d@%d", c.Number, c.At) }

// Keys of records in the topic of states.
const (
	blobKey     = "blob"
	manifestKey = "manifest"
)

// key is that of a piece.
func (b blob) key(piece int) string {
	return fmt.Sprintf("%s/%d/%s/%s/%d", blobKey, b.At, b.Writer, b.name, piece)
}

// manifestKey is that of a save's manifest.
func (s save) manifestKey() string { return fmt.Sprintf("%s/%d/%s", manifestKey, s.At, s.Writer) }

// parseKey takes a key apart; piece is -1 for a manifest's. Keys of strangers
// are not ok.
func parseKey(key string) (b blob, piece int, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) < 3 {
		return b, 0, false
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return b, 0, false
	}
	b.save = save{At: at, Writer: parts[2]}
	switch {
	case parts[0] == manifestKey && len(parts) == 3:
		return b, -1, true
	case parts[0] == blobKey && len(parts) == 5:
		b.name = parts[3]
		piece, err = strconv.Atoi(parts[4])
		return b, piece, err == nil && piece >= 0
	default:
		return b, 0, false
	}
}

// split cuts data into pieces, at least one.
func split(data []byte, size int) [][]byte {
	pieces := make([][]byte, 0, len(data)/size+1)
	for len(data) > size {
		pieces, data = append(pieces, data[:size:size]), data[size:]
	}
	return append(pieces, data)
}
