package kafka

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// list is a blob that tells the chunks of a manifest. Every round of a save has
// one of its own: chunks may be elsewhere than they were in the round before.
type list struct {
	Name string `json:"name"`
	stored
}

const listName = "chunks"

// nameList names that of a round.
func nameList(round int) string { return fmt.Sprintf("%s-%d", listName, round) }

func (b blob) isList() bool { return strings.HasPrefix(b.name, listName+"-") }

// listed is the blob of the list.
func (m *manifest) listed() blob { return blob{m.List.Save, m.List.Name} }

// lists are the pieces of lists whose manifests were not read yet, or not
// wholly: the only bodies that an index keeps.
type lists map[blob]map[int][]byte

func (l lists) add(b blob, piece int, data []byte) {
	if l[b] == nil {
		l[b] = make(map[int][]byte, 1)
	}
	l[b][piece] = bytes.Clone(data)
}

// complete has a manifest know its chunks, if they were read.
func (l lists) complete(m *manifest) {
	if m == nil || m.places != nil {
		return
	}
	b := m.listed()
	pieces := make([][]byte, m.List.Pieces)
	for k := range pieces {
		piece, ok := l[b][k]
		if !ok {
			return
		}
		pieces[k] = piece
	}
	if json.Unmarshal(bytes.Join(pieces, nil), &m.Chunks) == nil { // else it is never complete
		m.arrange()
		delete(l, b)
	}
}
