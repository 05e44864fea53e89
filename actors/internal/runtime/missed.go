package runtime

import (
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
)

// missed are the last of what an owner before would have told clients: ends of
// roots, and shared reads. Nothing in the log says whether it has, and clients
// ask again only after Resend: so the new owner tells them, too. An answer that
// nobody waits for any more is dropped.
type missed struct {
	all  []untold
	next int // the oldest, once there are as many as are kept
}

// untold is one of them.
type untold struct {
	read  *record.Read // nil: an answer
	id    record.ID
	reply string
	at    int64 // by the log's clock; 0 if it has none
}

// mostMissed is how many are kept: clients of more ask again by themselves.
const mostMissed = 1024

// keep keeps what follows from a record that was applied before the partition
// was owned.
func (m *missed) keep(fx *machine.Effects, at int64) {
	if fx.Read != nil {
		m.add(untold{read: fx.Read, at: at})
	}
	for i := range fx.Answers {
		a := &fx.Answers[i]
		if a.Reply == "" {
			continue // a tell: nobody waits
		}
		m.add(untold{id: a.ID, reply: a.Reply, at: at})
	}
}

func (m *missed) add(u untold) {
	if len(m.all) < mostMissed {
		m.all = append(m.all, u)
		return
	}
	m.all[m.next] = u
	m.next = (m.next + 1) % mostMissed
}

// makeUp tells what is not old: of the rest there are newer copies, since no
// client waits longer until it asks again.
func (inc *incarnation) makeUp() {
	lately := inc.now - 11*inc.node.config.Resend.Milliseconds()
	for i := range inc.missed.all {
		u := &inc.missed.all[i]
		switch {
		case u.at != 0 && u.at < lately:
		case u.read != nil:
			inc.share(u.read)
		default:
			inc.repeat(u)
		}
	}
	inc.missed = missed{}
}

// repeat gives an answer again, unless its id has come to life again since.
func (inc *incarnation) repeat(u *untold) {
	if result, done, _ := inc.state.Answer(u.id); done {
		inc.answer(machine.Answer{ID: u.id, Reply: u.reply, Result: result})
	}
}
