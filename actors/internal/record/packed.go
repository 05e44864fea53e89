package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Packed is a message within another encoding, in a snapshot.
type Packed struct{ Message Message }

// Fields describes p: the kind, the header, the payload.
func (p *Packed) Fields(w *codec.Walker) {
	var kind Kind
	if p.Message != nil {
		kind = p.Message.mail()
	}
	w.Uint8(1, (*uint8)(&kind))
	if w.Reading() {
		if p.Message = newMessage(kind); p.Message == nil {
			if kind != 0 {
				w.Fail(1, "is no kind of message")
			}
			return
		}
	}
	if p.Message != nil {
		w.Part(2, p.Message.header)
		w.Part(3, p.Message.payload)
	}
}

// Pack appends the encoding of a message.
func Pack(out []byte, m Message) []byte { return codec.Append(out, &Packed{Message: m}) }

// Unpack reads the message that is all of in.
func Unpack(in []byte) (Message, error) {
	var p Packed
	if err := codec.Decode(in, &p); err != nil {
		return nil, err
	}
	return p.Message, nil
}

func newMessage(k Kind) Message {
	switch k {
	case KindRequest:
		return new(Request)
	case KindResponse:
		return new(Response)
	case KindEmpty:
		return new(Empty)
	case KindLetter:
		return new(Letter)
	default:
		return nil
	}
}
