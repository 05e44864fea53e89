package runtime

import "github.com/backstay-go/backstay/internal/hook"

// report tells the observer, of what goes on failing now and then, and returns when
// it has been told. It cannot bring down who reports, who may have a partition's
// baton, and may be a client's goroutine or a method's: how it fails is nobody's
// business.
func (n *Node) report(e Event) {
	if n.config.Observe == nil || n.told.known(&e) {
		return
	}
	hook.Call(func() { n.config.Observe(e) })
}

// reportAll tells of many events that happened together, one after the other, for
// the price of one. It goes on behind one that the observer fails at.
func (n *Node) reportAll(events []Event) {
	for i := 0; i < len(events); {
		hook.Call(func() {
			for i < len(events) {
				i++
				n.config.Observe(events[i-1])
			}
		})
	}
}
