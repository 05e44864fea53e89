package record

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// Mail is output Number of the partition Source. Numbers count from 1 per
// pair of source and destination, without gaps.
type Mail struct {
	Source  Partition
	Number  uint64
	Message Message

	HeaderKept codec.Kept
}

// Kind is that of the message.
func (m *Mail) Kind() Kind { return m.Message.mail() }

func (m *Mail) header(w *codec.Walker) {
	w.Keep(&m.HeaderKept)
	w.Message(fieldSource, &m.Source)
	w.Uint(fieldNumber, &m.Number)
	m.Message.header(w)
}

func (m *Mail) payload(w *codec.Walker) { m.Message.payload(w) }

// Cancel asks that a child be not begun; its parent's attempt is gone. Nobody
// depends on its arrival.
type Cancel struct {
	Child ID
	// Running asks to end the context of what has begun, too. It is for the
	// owner: nothing of it is in the state.
	Running bool

	HeaderKept, Kept codec.Kept
}

// Kind is [KindCancel].
func (*Cancel) Kind() Kind { return KindCancel }

func (c *Cancel) header(w *codec.Walker) {
	w.Keep(&c.HeaderKept)
	w.Fixed(fieldID, (*[16]byte)(&c.Child))
}

func (c *Cancel) payload(w *codec.Walker) {
	w.Keep(&c.Kept)
	w.Bool(1, &c.Running)
}
