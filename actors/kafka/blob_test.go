package kafka

import (
	"bytes"
	"testing"

	"github.com/backstay-go/backstay/actors/journal"
)

func TestKeysAreReadAsTheyWereWritten(t *testing.T) {
	b := blob{save{At: 42, Writer: "ab12"}, chunkName(journal.Chunk{Number: 7, At: 40})}
	if got, piece, ok := parseKey(b.key(3)); !ok || got != b || piece != 3 {
		t.Errorf("%s: %+v, %d, %v", b.key(3), got, piece, ok)
	}
	if got, piece, ok := parseKey(b.manifestKey()); !ok || got.save != b.save || piece != -1 {
		t.Errorf("%s: %+v, %d, %v", b.manifestKey(), got, piece, ok)
	}
}

func TestPiecesAreWholeAgainPutTogether(t *testing.T) {
	for _, size := range []int{0, 1, 9, 10, 11, 20, 95} {
		data := bytes.Repeat([]byte{1}, size)
		pieces := split(data, 10)
		if len(pieces) != max((size+9)/10, 1) || !bytes.Equal(bytes.Join(pieces, nil), data) {
			t.Errorf("%d bytes in %d pieces", size, len(pieces))
		}
	}
}
