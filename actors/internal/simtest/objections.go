package simtest

import (
	"fmt"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// object returns what speaks against a record, if it is effective. It looks at
// all partitions and attempts as they were before.
func (j *Judge) object(l *ledger, r record.Record) []string {
	switch r := r.(type) {
	case *record.ClientRequest:
		return j.objectClient(l, r)
	case *record.Mail:
		return j.objectMail(l, r)
	case *record.Issued:
		return j.objectRan(l, r.Epoch, r.Link)
	case *record.Write:
		return j.objectRan(l, r.Epoch, r.Link)
	case *record.Failed:
		return j.objectRan(l, r.Epoch, r.Link)
	case *record.Step:
		return j.objectStep(l, r)
	case *record.Expired:
		return j.objectExpired(l, r)
	case *record.Forwarded:
		return j.objectForwarded(l, r)
	case *record.Fire:
		return j.objectFire(l, r)
	case *record.Ingest:
		return j.objectIngest(r)
	case *record.Takeover:
		return j.objectTakeover(l, r)
	}
	return nil
}

func (j *Judge) objectClient(l *ledger, r *record.ClientRequest) []string {
	if until, again := j.accepted[r.ID]; again && r.Until <= until+l.window {
		return []string{"P5: a client's request is accepted a second time"}
	}
	return nil
}

func (j *Judge) objectExpired(l *ledger, r *record.Expired) (all []string) {
	for _, link := range r.Links {
		if q := l.find(link.ID); q != nil && q.Link == link && !q.Begun {
			all = append(all, j.objectUnbegun(l, q)...)
		}
	}
	return all
}

// objectForwarded: an acknowledgement alone is not delivery.
func (j *Judge) objectForwarded(l *ledger, r *record.Forwarded) []string {
	if to := j.ledgers[r.Dest.Partition]; r.Dest.Topic == "" && (to == nil || to.in[l.self] < r.Number) {
		return []string{fmt.Sprintf("P6: output %d to %v is dropped and was not accepted", r.Number, r.Dest)}
	}
	return nil
}

func (j *Judge) objectFire(l *ledger, r *record.Fire) []string {
	if r.Name != "" && j.fired[tick{l.self, reminder{r.Target.Actor, r.Name}, r.Tick}] {
		return []string{"P10: a tick fires twice"}
	}
	return nil
}

// objectMail: what is accepted must be what its source's log produced.
func (j *Judge) objectMail(l *ledger, r *record.Mail) []string {
	from := j.ledgers[r.Source]
	if from == nil {
		return []string{"P6: mail of a partition that has no log"}
	}
	all := from.out[record.Dest{Partition: l.self}]
	if r.Number == 0 || r.Number > uint64(len(all)) || !sameMessage(r.Message, all[r.Number-1]) {
		return []string{fmt.Sprintf("P6: mail %d of %v is none of its outputs", r.Number, r.Source)}
	}
	return nil
}

// objectRan: an owner writes about a link whose method it has run.
func (j *Judge) objectRan(l *ledger, epoch uint64, link record.Link) []string {
	if !j.ran[run{l.self, epoch, link}] {
		return []string{"P8: it is about " + link.String() + ", which this owner has not run"}
	}
	return nil
}

func (j *Judge) objectStep(l *ledger, r *record.Step) (all []string) {
	q := l.link(r.Epoch, r.Link)
	if q == nil {
		return []string{"P1: it ends " + r.String() + ", which is not live"}
	}
	if j.nested(r.ID) {
		all = append(all, "P3: it ends "+r.String()+" while a child lives")
	}
	switch {
	case r.Outcome.Unbegun():
		all = append(all, j.objectUnbegun(l, q)...)
	case r.Outcome == record.Poison:
		if a := j.runs(l, r.ID); a != nil {
			all = append(all, "P9: it poisons what runs")
		}
	case !unrun(r):
		all = append(all, j.objectRan(l, r.Epoch, r.Link)...)
		if a := j.runs(l, r.ID); a != nil {
			all = append(all, "P1: it ends "+r.String()+" while its method runs")
		}
	}
	return all
}

// unrun reports whether a step ends what has no method here.
func unrun(r *record.Step) bool {
	return r.Result.Failure != nil && r.Result.Failure.Code == "no_method"
}

// objectUnbegun: what expires, or is cancelled or refused, has left no trace and
// does not run.
func (j *Judge) objectUnbegun(l *ledger, q *request) (all []string) {
	if q.Begun || q.calls > 0 || q.tries > 0 || q.Seq > 0 {
		all = append(all, "D9: "+q.String()+" ends as never begun, and has begun")
	}
	if j.runs(l, q.ID) != nil {
		all = append(all, "D9: "+q.String()+" ends as never begun, and runs")
	}
	if j.nested(q.ID) {
		all = append(all, "P3: "+q.String()+" ends while a child lives")
	}
	return all
}
