package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/internal/lazyctx"
)

// Reading is a shared read: the cells of an actor as of one moment.
type Reading struct {
	request record.Read
	cells   []record.Cell // sorted by name
}

// Request is what is asked. It must not be changed.
func (v *Reading) Request() *record.Read { return &v.request }

// Cell returns a value of the actor's state. It must not be changed.
func (v *Reading) Cell(_ context.Context, name string) ([]byte, bool, error) {
	i, found := v.find(name)
	if !found {
		return nil, false, nil
	}
	return v.cells[i].Value, true, nil
}

// Cells returns the cells whose names begin with prefix, sorted by name.
// Values must not be changed.
func (v *Reading) Cells(_ context.Context, prefix string) ([]record.Cell, error) {
	i, _ := v.find(prefix)
	j := i
	for j < len(v.cells) && strings.HasPrefix(v.cells[j].Name, prefix) {
		j++
	}
	return slices.Clone(v.cells[i:j]), nil
}

func (v *Reading) find(name string) (int, bool) {
	return slices.BinarySearchFunc(v.cells, name, func(c record.Cell, name string) int { return cmp.Compare(c.Name, name) })
}

// share runs a shared method on the cells as of now, where its record was
// applied: beside everything else, without a place in any queue (R41, R42). A
// copy that comes meanwhile runs nothing: its client gets the same answer.
func (inc *incarnation) share(r *record.Read) {
	if inc.leaving && len(inc.work) == 0 {
		return // else a stream of reads would keep it here; the next owner makes up for it
	}
	if _, copied := inc.asked[r.ID]; copied || inc.look(r) {
		return
	}
	m, ok := inc.typ.Methods[r.Method]
	switch {
	case ok && m.Read == nil:
		inc.node.emit(r.Reply, r.ID, record.Result{Failure: &record.Failure{Code: CodeNoMethod, Message: fmt.Sprintf("method %q of %q is not shared", r.Method, inc.typ.Name)}})
		return
	case !ok:
		end := inc.unknown(r.Method)
		if end.Retry == nil { // else another owner will have it: the client asks again
			inc.node.emit(r.Reply, r.ID, end.Result)
		}
		return
	case r.Deadline > 0 && r.Deadline <= inc.now:
		inc.node.emit(r.Reply, r.ID, record.Result{Failure: &record.Failure{Code: CodeExpired, Message: "its deadline passed before it began"}})
		return
	}
	if inc.waitToRead(r) {
		return
	}
	v := &Reading{request: *r, cells: inc.state.Cells(r.Target.Actor, "")}
	left := inc.typ.StepTimeout
	if r.Deadline > 0 {
		left = time.Duration(r.Deadline-inc.now) * time.Millisecond
	}
	inc.reading++
	inc.asked[r.ID] = struct{}{}
	inc.methods.Add()
	go inc.answerRead(inc.scope(new(lazyctx.Ctx), inc.within(left)), m, v)
}

// answerRead runs the method and answers, however it ends.
func (inc *incarnation) answerRead(ctx *lazyctx.Ctx, m Method, v *Reading) {
	r := &v.request
	failure := &record.Failure{Code: CodePoison, Message: errGoexit.Error()}
	result := record.Result{Failure: failure}
	defer func() {
		if v := recover(); v != nil {
			failure.Message = inc.hookPanicked(r.Target.Actor, r.Method, v).Error()
		}
		ctx.Cancel()
		inc.node.emit(r.Reply, r.ID, result)
		inc.post(readDone(r.ID))
		inc.methods.Done()
	}()
	result = m.Read(ctx, v)
}

// within is the end of that time from now; a negative one has no end.
func (inc *incarnation) within(d time.Duration) backstay.Instant {
	if d < 0 {
		return backstay.Instant(1<<63 - 1)
	}
	return inc.instant.Add(d)
}

// readDone: a shared method has returned.
type readDone record.ID

func (d readDone) happen(inc *incarnation) {
	inc.reading--
	delete(inc.asked, record.ID(d))
}
