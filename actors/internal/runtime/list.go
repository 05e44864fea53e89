package runtime

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/cellar"
	"github.com/backstay-go/backstay/actors/internal/machine"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// listing is a list on its way: what is in memory is taken by the loop, what was
// saved is read beside it.
type listing struct {
	read  record.Read
	after string
	limit int
	near  []near // the next of those that are in memory
}

// near is what is in memory of an actor.
type near struct {
	machine.Change
	requests, reminders int
}

// list answers with the first actors after an id.
func (inc *incarnation) list(r *record.Read) {
	var p page
	if err := json.Unmarshal(r.Args, &p); err != nil {
		inc.node.emit(r.Reply, r.ID, failure(CodeNoMethod, err.Error()))
		return
	}
	inc.asked[r.ID] = struct{}{}
	l := &listing{read: *r, after: p.After, limit: min(max(p.Limit, 1), pageSize)}
	l.happen(inc)
}

// happen takes what is in memory, then reads what is saved; if neither has an
// actor to tell of, but there may be more, the list goes on from there.
func (l *listing) happen(inc *incarnation) {
	l.near = l.near[:0]
	for _, actor := range inc.state.Known(l.after, l.limit) {
		n := near{Change: inc.state.Overlay(actor)}
		n.requests, n.reminders = inc.state.Counts(actor)
		l.near = append(l.near, n)
	}
	inc.beside.Go(func() {
		inc.listing <- struct{}{} // one reads all that there is
		defer func() { <-inc.listing }()
		ctx := inc.scope(new(lazyctx.Ctx), backstay.Now().Add(saveFor))
		defer ctx.Cancel()
		l.answer(ctx, inc)
	})
}

func (l *listing) answer(ctx context.Context, inc *incarnation) {
	saved, err := inc.cellar.List(ctx, l.after, l.limit)
	if err != nil { // whoever asked asks again
		inc.post(listDone(l.read.ID))
		inc.node.report(Event{Kind: LoadFailed, Partition: inc.self, Epoch: inc.epoch, Err: fmt.Errorf("runtime: listing %v: %w", inc.partition, err)})
		return
	}
	all, more := l.merge(saved)
	if len(all) == 0 && more {
		inc.post(l)
		return
	}
	inc.node.emit(l.read.Reply, l.read.ID, told(all))
	inc.post(listDone(l.read.ID))
}

// listDone: a list is answered, or given up.
type listDone record.ID

func (d listDone) happen(inc *incarnation) { delete(inc.asked, record.ID(d)) }

// merge lays what is in memory over what was saved, in the order of ids, as far
// as both are known, and leaves out what is not there any more. There may be
// more behind.
func (l *listing) merge(saved []cellar.Saved) (all []Known, more bool) {
	all = []Known{}
	size, looked := 0, 0
	for ; (len(l.near) > 0 || len(saved) > 0) && size <= pageBytes && looked < l.limit; looked++ {
		var n near
		var below []record.Cell
		fromSaved := len(l.near) == 0 || len(saved) > 0 && saved[0].Actor <= l.near[0].Actor
		if fromSaved {
			n.Actor, below = saved[0].Actor, saved[0].Cells
			saved = saved[1:]
		}
		if len(l.near) > 0 && (!fromSaved || l.near[0].Actor == n.Actor) {
			n, l.near = l.near[0], l.near[1:]
		}
		l.after = n.Actor
		k := Known{Actor: n.Actor, Cells: len(n.Over(below)), Requests: n.requests, Reminders: n.reminders}
		if k.Cells+k.Requests+k.Reminders > 0 {
			all = append(all, k)
			size += len(k.Actor) + overhead/2
		}
	}
	return all, looked == l.limit
}
