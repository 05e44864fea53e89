package runtime

import (
	"errors"
	"strconv"

	"github.com/backstay-go/backstay/actors/journal"
)

// publishDead publishes a dead letter: without what makes it long, if it is too
// large for the brokers with that. done is called once, from anywhere.
func (n *Node) publishDead(m journal.Message, done func(journal.Place, error)) {
	n.log.Publish(m, func(at journal.Place, err error) {
		if errors.Is(err, journal.ErrTooLarge) {
			if short, shorter := abridged(m); shorter {
				n.log.Publish(short, done)
				return
			}
		}
		done(at, err)
	})
}

// longestHeader is how many bytes a header has at most that an abridged letter
// keeps: what the letter itself has to say is shorter.
const longestHeader = 4 * longestDetail

// abridged is a letter without its value and its long headers, baggage for
// example, and says how many bytes those have. It reports false if there are none.
// The header of the actor stays, however long: without it, it is no letter.
func abridged(m journal.Message) (short journal.Message, shorter bool) {
	left := len(m.Value)
	short = m
	short.Value, short.Headers = nil, nil
	for _, h := range m.Headers {
		if len(h.Value) > longestHeader && h.Name != HeaderActor {
			left += len(h.Value)
			continue
		}
		short.Headers = append(short.Headers, h)
	}
	short.Headers = append(short.Headers, header(HeaderLeftOut, strconv.Itoa(left)))
	return short, left > 0
}
