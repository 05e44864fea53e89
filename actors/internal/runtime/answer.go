package runtime

import (
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// reply is an answer on its way to a client.
type reply struct {
	id     record.ID
	result record.Result
	kept   codec.Kept
}

// Fields describes r.
func (r *reply) Fields(w *codec.Walker) {
	w.Keep(&r.kept)
	w.Fixed(1, (*[16]byte)(&r.id))
	w.Message(2, &r.result)
}

// emit sends a result to where a client listens: directly, if it is here.
func (n *Node) emit(address string, id record.ID, result record.Result) {
	switch address {
	case "": // a tell
	case n.address:
		n.clients.deliver(id, result)
	default:
		n.log.Answer(address, codec.Append(nil, &reply{id: id, result: result}))
	}
}

// hear takes an answer from another process.
func (n *Node) hear(data []byte) {
	var r reply
	if codec.Decode(data, &r) == nil { // what is no answer is nobody's
		n.clients.deliver(r.id, r.result)
	}
}
