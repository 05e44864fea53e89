package httpmw

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"

	"github.com/backstay-go/backstay/internal/wire"
)

// kept is what is kept of the answer to a keyed request: its head in JSON, and
// behind a line feed its body. Values of headers may be any bytes.
type kept struct {
	Status  int                 `json:"status"`
	Header  map[string][][]byte `json:"header,omitempty"`
	Trailer map[string][][]byte `json:"trailer,omitempty"`
	Flushed bool                `json:"flushed,omitempty"` // it went out in pieces
	body    []byte
}

func (k kept) encode() []byte {
	data, _ := json.Marshal(k) // of a number, strings and bytes
	return append(append(data, '\n'), k.body...)
}

// errKept says that what the store holds is no answer of a handler.
var errKept = errors.New("httpmw: the kept answer cannot be read")

func decode(data []byte) (k kept, err error) {
	head, body, ok := bytes.Cut(data, []byte{'\n'})
	if !ok || json.Unmarshal(head, &k) != nil || k.Status < 200 || k.Status > 999 {
		return kept{}, errKept
	}
	k.body = body
	return k, nil
}

// give answers with what was kept, marked.
func (k kept) give(a *answer) {
	h := a.Header()
	maps.Copy(h, wire.Texts(k.Header))
	h[wire.HeaderIdempotentReplayed] = []string{"true"}
	if !k.Flushed {
		setLength(h, k.Status, len(k.body))
	}
	a.WriteHeader(k.Status)
	if len(k.body) > 0 {
		_, _ = a.Write(k.body) // a caller that has gone will come back for it
	}
	if k.Flushed {
		a.Flush() // else net/http would know its length, which the first did not have
	}
	maps.Copy(h, wire.Texts(k.Trailer))
}
