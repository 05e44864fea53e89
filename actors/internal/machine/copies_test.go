package machine

import (
	"bytes"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// S2: of a record that takes messages in, and of one that gives an output up, a
// copy is void, at once, after what it brought has ended, and under another owner.
func TestS2_CopiesOfAnIngestAndOfAnUndeliverableAreVoid(t *testing.T) {
	s := owned(t)
	take := &record.Ingest{Epoch: 1, Topic: "s", To: 1, Messages: []record.Ingested{{Call: record.Call{Target: actor("a"), Method: "m"}}}}
	effective(t, s, take)
	void(t, s, take, VoidPosition)
	e := s.Lookup(record.IngestID("s", 0, 0))
	effective(t, s, &record.Issued{Epoch: 1, Link: e.Link, Children: []record.Call{{ID: record.ID{8}, Target: far("b")}}})
	lose := &record.Undeliverable{Epoch: 1, Dest: record.Dest{Partition: name(1)}, Number: 1, Failure: record.Failure{Code: "too_large"}}
	effective(t, s, lose)
	void(t, s, lose, VoidNothing)
	effective(t, s, ended(e.Link))
	void(t, s, take, VoidPosition)
	void(t, s, lose, VoidNothing)
	effective(t, s, &record.Forwarded{Epoch: 1, Dest: lose.Dest, Number: 1})
	void(t, s, lose, VoidNothing)
	effective(t, s, &record.Takeover{Epoch: 2, Nonce: record.ID{2}, Window: 10})
	before := s.Snapshot()
	void(t, s, take, VoidEpoch)
	void(t, s, lose, VoidEpoch)
	if !bytes.Equal(before, s.Snapshot()) {
		t.Error("a void copy has changed the state")
	}
}

// S2, H20: a failure that goes in the place of a result can be given up as well,
// but not by a copy of what has put it there.
func TestS2_AResultIsGivenUpOnceAndItsFailureOnce(t *testing.T) {
	s := owned(t)
	r := &record.Request{Link: record.Link{ID: record.ID{7}}, Target: actor("a"), Return: record.Return{Kind: record.ReturnParent, Partition: name(1), Parent: record.ID{6}}}
	effective(t, s, &record.Mail{Source: name(1), Number: 1, Message: r})
	end := ended(r.Link)
	end.Result.Value = []byte("long")
	effective(t, s, end)
	dest := record.Dest{Partition: name(1)}
	first := &record.Undeliverable{Epoch: 1, Dest: dest, Number: 1, Failure: record.Failure{Code: "too_large", Message: "long"}, Instead: true}
	fx := effective(t, s, first)
	left, ok := s.Waiting(dest)[0].Message.(*record.Response)
	switch {
	case !ok || len(left.Result.Value) > 0 || left.Result.Failure.Message != "long" || left.Child != r.ID || left.Parent != r.Return.Parent:
		t.Errorf("left %+v", s.Waiting(dest)[0].Message)
	case len(fx.Outputs) != 1 || fx.Outputs[0].Number != 1 || fx.Outputs[0].Message != left || len(fx.Alarms) > 0:
		t.Errorf("effects %+v", fx)
	}
	void(t, s, first, VoidNothing)
	last := &record.Undeliverable{Epoch: 1, Dest: dest, Number: 1, Failure: first.Failure}
	if fx := effective(t, s, last); len(fx.Alarms) != 1 {
		t.Errorf("alarms %v", fx.Alarms)
	}
	void(t, s, first, VoidNothing)
	void(t, s, last, VoidNothing)
}

// S10: a Cancel that comes before its request, after it has gone on elsewhere, a
// second time, or from an owner that was replaced: it has no epoch, and needs none.
func TestS10_ACancelMayComeAtAnyTime(t *testing.T) {
	request := func(id byte) *record.Request {
		return &record.Request{Link: record.Link{ID: record.ID{id}}, Target: actor("a"), Return: record.Return{Kind: record.ReturnParent, Partition: name(1), Parent: record.ID{6}}}
	}
	mail := func(n uint64, r *record.Request) *record.Mail {
		return &record.Mail{Source: name(1), Number: n, Message: r}
	}
	s := owned(t)
	early := &record.Cancel{Child: record.ID{5}}
	void(t, s, early, VoidLink)
	effective(t, s, mail(1, request(5)))
	if d, _ := idle(s).Decide(s.Lookup(record.ID{5})); d != Run {
		t.Errorf("a Cancel that came before its request: %v", d)
	}
	effective(t, s, early)
	void(t, s, early, VoidNothing)
	effective(t, s, &record.Takeover{Epoch: 2, Nonce: record.ID{2}, Window: 10})
	void(t, s, &record.Step{Epoch: 1, Link: request(5).Link, Outcome: record.Cancelled}, VoidEpoch)
	effective(t, s, &record.Step{Epoch: 2, Link: request(5).Link, Outcome: record.Cancelled})
	void(t, s, early, VoidLink)
	for id, outcome := range map[byte]record.Outcome{7: record.TailSelf, 8: record.TailOther} {
		n := s.Received(name(1)) + 1
		effective(t, s, mail(n, request(id)))
		step := onto(request(id).Link, outcome, far("b"))
		step.Epoch = 2
		effective(t, s, step)
		want := VoidBegun
		if outcome == record.TailOther {
			want = VoidLink
		}
		void(t, s, &record.Cancel{Child: record.ID{id}}, want)
	}
}

// S10, A76: a client sends again what has expired: it gets the same end, and the
// request runs no more.
func TestS10_AnExpiredRootThatIsSentAgainStaysExpired(t *testing.T) {
	s := owned(t)
	r := client(1, "a")
	r.TTL = 5
	effective(t, s, r)
	effective(t, s, &record.Step{Epoch: 1, Link: linkOf(1), Outcome: record.DeadlinePassed})
	for at := int64(10); at < 100; at += 30 {
		s.Skip(at)
		again := *r
		again.Until = at + 10
		fx := void(t, s, &again, VoidKnown)
		if len(fx.Answers) != 1 || fx.Answers[0].Result.Failure.Code != CodeExpired || s.Live() != 0 {
			t.Errorf("at %d: %+v", at, fx)
		}
	}
}
