package runtime

import "github.com/backstay-go/backstay/actors/internal/record"

// missed are the last shared reads below a Takeover. Nothing in the log says
// whether the owner before has answered them, and their clients ask again only
// after Resend: so the new owner answers them, too. An answer that nobody waits
// for any more is dropped.
type missed struct {
	reads []missedRead
	next  int // the oldest, once there are as many as are kept
}

type missedRead struct {
	*record.Read
	at int64 // by the log's clock; 0 if it has none
}

// mostMissed is how many are kept: more come again by themselves.
const mostMissed = 1024

// keep keeps a read, if it is one, that was applied before the partition was
// owned.
func (m *missed) keep(r *record.Read, at int64) {
	switch {
	case r == nil:
	case len(m.reads) < mostMissed:
		m.reads = append(m.reads, missedRead{r, at})
	default:
		m.reads[m.next] = missedRead{r, at}
		m.next = (m.next + 1) % mostMissed
	}
}

// makeUp answers those that came lately. Of those before, clients have sent
// copies since.
func (inc *incarnation) makeUp() {
	lately := inc.now - 2*inc.node.config.Resend.Milliseconds()
	for _, r := range inc.missed.reads {
		if r.at == 0 || r.at >= lately {
			inc.share(r.Read)
		}
	}
	inc.missed = missed{}
}
