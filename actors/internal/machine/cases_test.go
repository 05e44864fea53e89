package machine

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// owned is a state whose owner has epoch 1, with a window of 10.
func owned(t *testing.T) *State {
	t.Helper()
	s := New(name(0))
	if fx := s.Apply(&record.Takeover{Epoch: 1, Nonce: record.ID{1}, Window: 10}, 1); fx.Void != Effective {
		t.Fatal(fx.Void)
	}
	return s
}

func actor(a string) record.Address { return record.Address{Type: "t", Actor: a} }

// far is an actor of partition 1.
func far(a string) record.Address { return record.Address{Type: "t", Actor: a, Index: 1} }

func client(id byte, a string) *record.ClientRequest {
	return &record.ClientRequest{ID: record.ID{id}, Until: 100, Target: actor(a), Method: "m", Reply: "r"}
}

func linkOf(id byte) record.Link { return record.Link{ID: record.ID{id}, Life: 100} }

func effective(t *testing.T, s *State, r record.Record) *Effects {
	t.Helper()
	fx := s.Apply(r, s.Clock())
	if fx.Void != Effective {
		t.Fatalf("%v is void: %s", r.Kind(), fx.Void)
	}
	return fx
}

func void(t *testing.T, s *State, r record.Record, why Void) *Effects {
	t.Helper()
	fx := s.Apply(r, s.Clock())
	if fx.Void != why {
		t.Fatalf("%v: %q, want %q", r.Kind(), fx.Void, why)
	}
	return fx
}

func idle(s *State) View {
	return View{State: s, Phase: func(record.ID) Phase { return Idle }, Now: s.Clock()}
}

func ended(l record.Link) *record.Step { return &record.Step{Epoch: 1, Link: l} }

func onto(l record.Link, o record.Outcome, a record.Address) *record.Step {
	return &record.Step{Epoch: 1, Link: l, Outcome: o, Tail: &record.Call{Target: a, Method: "next"}}
}

func next(l record.Link) record.Link { l.Seq++; return l }

// Acceptance case A2.
func TestA2_AnErrorIsAResult(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	step := ended(linkOf(1))
	step.Result.Failure = &record.Failure{Code: "no_funds"}
	fx := effective(t, s, step)
	if len(fx.Answers) != 1 || fx.Answers[0].Result.Failure.Code != "no_funds" || s.Live() != 0 {
		t.Errorf("%+v", fx)
	}
}

// Acceptance case A13.
func TestA13_OthersWaitWhileARequestWaitsForItsCall(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, client(2, "a"))
	effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{{ID: record.ID{9}, Target: far("b")}}})
	if e, d, _ := idle(s).Next("a"); e != nil {
		t.Errorf("%v: %v", e.Link, d)
	}
}

// Acceptance case A16.
func TestA16_OnlyADescendantPassesTheQueue(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, client(2, "a"))
	effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{{ID: record.ID{9}, Target: far("b")}}})
	back := &record.Request{Link: record.Link{ID: record.ID{10}}, Target: actor("a"), Ancestors: []record.ID{{1}, {9}}}
	effective(t, s, &record.Mail{Source: name(1), Number: 1, Message: back})
	if e, d, _ := idle(s).Next("a"); e == nil || e.ID != back.ID || d != Run {
		t.Errorf("%v: %v", e, d)
	}
}

// Acceptance case A20.
func TestA20_ASelfTailCallRunsBeforeWhatIsQueued(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, client(2, "a"))
	effective(t, s, onto(linkOf(1), record.TailSelf, actor("a")))
	if e, _, _ := idle(s).Next("a"); e.Link != next(linkOf(1)) || e.Method != "next" || !e.Held {
		t.Errorf("%+v", e)
	}
}

// Acceptance case A21.
func TestA21_ATailCallToAnotherActorReleasesTheFirst(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, client(2, "a"))
	effective(t, s, onto(linkOf(1), record.TailOther, far("b")))
	if e, _, _ := idle(s).Next("a"); e.Link != linkOf(2) {
		t.Errorf("%+v", e)
	}
}

// Acceptance case A22.
func TestA22_ASelfTailCallWithReleaseGoesBehindTheQueue(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, client(2, "a"))
	effective(t, s, onto(linkOf(1), record.TailOther, actor("a")))
	var order []byte
	for e := range s.Queue("a") {
		order = append(order, e.ID[0])
	}
	if !bytes.Equal(order, []byte{2, 1}) {
		t.Error(order)
	}
}

// Acceptance case A26.
func TestA26_ATailCallKeepsTheWayBack(t *testing.T) {
	s := owned(t)
	call := &record.Request{Link: record.Link{ID: record.ID{5}}, Target: actor("a"), Key: "k", Return: record.Return{Kind: record.ReturnParent, Partition: name(2), Parent: record.ID{6}}, Ancestors: []record.ID{{6}}}
	effective(t, s, &record.Mail{Source: name(2), Number: 1, Message: call})
	fx := effective(t, s, onto(call.Link, record.TailOther, far("b")))
	got, ok := fx.Outputs[0].Message.(*record.Request)
	if !ok || got.Return != call.Return || got.Ancestors[0] != call.Ancestors[0] || got.Key != "k" || got.Seq != 1 || !got.Begun {
		t.Errorf("%+v", got)
	}
}

// Acceptance case A27.
func TestA27_ALongChainOfSelfTailCallsHasASteadySize(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	l := linkOf(1)
	size := 0
	for i := range 10_000 {
		effective(t, s, onto(l, record.TailSelf, actor("a")))
		l = next(l)
		if i == 300 {
			size = len(s.Snapshot())
		}
	}
	if grown := len(s.Snapshot()) - size; grown > 1 { // the number itself
		t.Errorf("grew by %d bytes", grown)
	}
}

// Acceptance case A31.
func TestA31_WhatIsRecordedAsDoneIsNeverRunAgain(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, ended(linkOf(1)))
	effective(t, s, &record.Takeover{Epoch: 2, Nonce: record.ID{2}, Window: 10})
	if s.Live() != 0 || len(s.Suspects()) != 0 {
		t.Error("it is still there")
	}
	void(t, s, ended(linkOf(1)), VoidEpoch)
}

// Acceptance case A33, A34.
func TestA33_A34_ARetryWaitsForTheCalleesOfTheDeadAttempt(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{{ID: record.ID{8}, Target: far("b")}, {ID: record.ID{9}, Target: far("c")}}})
	effective(t, s, &record.Takeover{Epoch: 2, Nonce: record.ID{2}, Window: 10})
	for n, child := range []byte{8, 9} {
		if e, _, _ := idle(s).Next("a"); e != nil {
			t.Errorf("it is retried before %d has ended", child)
		}
		effective(t, s, &record.Mail{Source: name(1), Number: uint64(n + 1), Message: &record.Response{Child: record.ID{child}, Parent: record.ID{1}}})
	}
	if e, _, _ := idle(s).Next("a"); e == nil {
		t.Error("it is not retried")
	}
}

// Acceptance case A38.
func TestA38_AResponseNamesTheChildOfItsAttempt(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{{ID: record.ID{9}, Target: far("b")}}})
	fx := effective(t, s, &record.Mail{Source: name(1), Number: 1, Message: &record.Response{Child: record.ID{8}, Parent: record.ID{1}}})
	if len(fx.Arrivals) != 0 || len(fx.Alarms) != 1 || len(s.Lookup(record.ID{1}).Issued()) != 1 {
		t.Errorf("%+v", fx)
	}
}

// Acceptance case A45, A79.
func TestA45_A79_AttemptsEndInADeadLetterAndAnErrorForTheCaller(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, &record.Failed{Epoch: 1, Link: linkOf(1), Attempt: 1, NotBefore: 50})
	void(t, s, &record.Begun{Epoch: 1, Link: linkOf(1), Attempt: 1}, VoidAttempt)
	v := idle(s)
	v.MaxAttempts = 2
	if _, d, _ := v.Next("a"); d != Wait {
		t.Errorf("no backoff: %v", d)
	}
	effective(t, s, &record.Takeover{Epoch: 2, Nonce: record.ID{2}, Window: 10})
	v.Now, v.Suspect = 50, func(l record.Link) bool { return l == s.Suspects()[0] }
	if _, d, n := v.Next("a"); d != Record || n != 2 {
		t.Errorf("%v of attempt %d", d, n)
	}
	effective(t, s, &record.Begun{Epoch: 2, Link: linkOf(1), Attempt: 2}) // and the method kills its process
	if _, d, _ := v.Next("a"); d != GiveUp {
		t.Errorf("%v", d)
	}
	fx := effective(t, s, &record.Step{Epoch: 2, Link: linkOf(1), Outcome: record.Poison, Dead: "dead"})
	letter, ok := fx.Outputs[0].Message.(*record.Letter)
	if !ok || letter.Dead.Reason != CodePoison || letter.Dead.Attempts != 2 || fx.Answers[0].Result.Failure.Code != CodePoison {
		t.Errorf("%+v", fx)
	}
}

// Acceptance case A63.
func TestA63_WhatExpiresInTheQueueAnswersOrLeavesADeadLetter(t *testing.T) {
	s := owned(t)
	called := client(1, "a")
	called.TTL = 300
	told := client(2, "a")
	told.TTL, told.Reply = 300, ""
	effective(t, s, called)
	effective(t, s, told)
	v := idle(s)
	v.Now = s.Clock() + 299
	for range v.Overdue("a") {
		t.Error("a millisecond early")
	}
	v.Now++
	bulk := &record.Expired{Epoch: 1, Dead: "dead"}
	for e, d := range v.Overdue("a") {
		if d == Expire {
			bulk.Links = append(bulk.Links, e.Link)
		}
	}
	fx := effective(t, s, bulk)
	letter, ok := fx.Outputs[0].Message.(*record.Letter)
	if len(fx.Left) != 2 || len(fx.Outputs) != 1 || !ok || letter.Dead.Request.ID != (record.ID{2}) || letter.Dead.Queued != 1 {
		t.Errorf("%+v", fx)
	}
	if len(fx.Answers) != 2 || fx.Answers[0].Result.Failure.Code != CodeExpired {
		t.Errorf("%+v", fx.Answers)
	}
	void(t, s, bulk, VoidNothing)
}

// Acceptance case A64.
func TestA64_WhatHasBegunNeverExpires(t *testing.T) {
	for name, mark := range map[string]record.Record{
		"an Issued":   &record.Issued{Epoch: 1, Link: linkOf(1)},
		"a Write":     &record.Write{Epoch: 1, Link: linkOf(1)},
		"a Begun":     &record.Begun{Epoch: 1, Link: linkOf(1), Attempt: 1},
		"a Failed":    &record.Failed{Epoch: 1, Link: linkOf(1), Attempt: 1},
		"a tail call": onto(linkOf(1), record.TailSelf, actor("a")),
	} {
		s := owned(t)
		r := client(1, "a")
		r.TTL = 5
		effective(t, s, r)
		effective(t, s, mark)
		l := s.Lookup(record.ID{1}).Link
		v := idle(s)
		v.Now = 1000
		if _, d, _ := v.Next("a"); d != Run {
			t.Errorf("after %s: %v", name, d)
		}
		for _, o := range []record.Outcome{record.DeadlinePassed, record.Refused, record.Cancelled} {
			void(t, s, &record.Step{Epoch: 1, Link: l, Outcome: o}, VoidBegun)
		}
	}
}

// Acceptance case A69.
func TestA69_ACancelledCallIsNotRunAndReleasesItsCaller(t *testing.T) {
	s := owned(t)
	call := &record.Request{Link: record.Link{ID: record.ID{5}}, Target: actor("a"), Return: record.Return{Kind: record.ReturnParent, Partition: name(1), Parent: record.ID{6}}}
	effective(t, s, &record.Mail{Source: name(1), Number: 1, Message: call})
	void(t, s, &record.Step{Epoch: 1, Link: call.Link, Outcome: record.Cancelled}, VoidUncalled)
	effective(t, s, &record.Cancel{Child: call.ID})
	if d, _ := idle(s).Decide(s.Lookup(call.ID)); d != Drop {
		t.Errorf("%v", d)
	}
	fx := effective(t, s, &record.Step{Epoch: 1, Link: call.Link, Outcome: record.Cancelled})
	if r, ok := fx.Outputs[0].Message.(*record.Response); !ok || r.Result.Failure.Code != CodeCancelled || r.Parent != call.Return.Parent {
		t.Errorf("%+v", fx)
	}
}

// Acceptance case A71, A72.
func TestA71_A72_RemindersFireOnceNeverEarlyAndUntilCancelled(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	set := ended(linkOf(1))
	set.Delta.Reminders = []record.Reminder{{Name: "bill", Next: 20, Period: "10", Method: "bill"}}
	effective(t, s, set)
	fire := &record.Fire{Epoch: 1, ID: record.ID{7}, Target: actor("a"), Name: "bill", Tick: 20, Then: 50, Missed: 2}
	void(t, s, fire, VoidTick)
	s.Skip(45)
	effective(t, s, fire)
	void(t, s, fire, VoidTick)
	e := s.Lookup(record.ID{7})
	if r, ok := s.Reminder("a", "bill"); !ok || r.Next != 50 || e.Missed != 2 || e.Method != "bill" || e.Key == "" {
		t.Errorf("%+v, %+v", r, e)
	}
	effective(t, s, client(2, "a"))
	stop := ended(linkOf(2))
	stop.Delta.Reminders = []record.Reminder{{Name: "bill"}}
	effective(t, s, stop)
	s.Skip(50)
	void(t, s, &record.Fire{Epoch: 1, ID: record.ID{8}, Target: actor("a"), Name: "bill", Tick: 50}, VoidTick)
}

// Acceptance case A76, A78.
func TestA76_A78_ACopyGetsTheFirstAnswerAndProlongsIt(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	void(t, s, client(1, "a"), VoidKnown)
	done := ended(linkOf(1))
	done.Result.Value = []byte("first")
	effective(t, s, done)
	for at := int64(100); at < 1000; at += 5 {
		again := client(1, "a")
		again.Until = at + 5
		s.Skip(at)
		if fx := void(t, s, again, VoidKnown); len(fx.Answers) != 1 || string(fx.Answers[0].Result.Value) != "first" {
			t.Fatalf("at %d: %+v", at, fx)
		}
	}
	s.Skip(2000)
	void(t, s, client(1, "a"), VoidLate)
	second := client(1, "a")
	second.Until = 2100
	effective(t, s, second)
	void(t, s, ended(linkOf(1)), VoidLink) // a copy from the first life (R25)
	effective(t, s, ended(record.Link{ID: record.ID{1}, Life: 2100}))
}

// Acceptance case A77, A80.
func TestA77_A80_ARetryMakesTheSameKeysUnderNewIDs(t *testing.T) {
	key := func(id byte) string {
		s := owned(t)
		effective(t, s, client(1, "a"))
		fx := effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{
			{ID: record.ID{id}, Target: far("b"), Name: "0"}, {ID: record.ID{id + 1}, Target: far("b"), Name: "1"},
		}})
		first, _ := fx.Outputs[0].Message.(*record.Request)
		other, _ := fx.Outputs[1].Message.(*record.Request)
		if first.Key == other.Key || first.Key == "" {
			t.Errorf("keys %q and %q", first.Key, other.Key)
		}
		return first.Key
	}
	if key(8) != key(20) {
		t.Error("another key with another id")
	}
}

// Acceptance case A81.
func TestA81_WaitingInAnOutboxDoesNotRenewADeadline(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	s.Skip(40)
	fx := effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{{ID: record.ID{8}, Target: far("b"), TTL: 30, Deadline: 999}}})
	number := fx.Outputs[0].Number
	s.Skip(60)
	effective(t, s, &record.Takeover{Epoch: 2, Nonce: record.ID{2}, Window: 10})
	for o := range s.Outputs() {
		r, ok := o.Message.(*record.Request)
		if !ok || r.Deadline != 70 || o.Number != number {
			t.Errorf("%+v", r)
		}
	}
}

// Acceptance case A11.
func TestA11_ClearingAnActorLeavesNothingButWhatWasAccepted(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	set := onto(linkOf(1), record.TailSelf, actor("a"))
	set.Delta = record.Delta{Cells: []record.Cell{{Name: "v", Value: []byte("1")}}, Reminders: []record.Reminder{{Name: "r", Next: 9}}}
	set.Tells = []record.Call{{ID: record.ID{4}, Target: actor("a"), NotBefore: 90}}
	effective(t, s, set)
	gone := ended(next(linkOf(1)))
	gone.Delta.Clear = true
	effective(t, s, gone)
	_, cell := s.Cell("a", "v")
	_, reminder := s.Reminder("a", "r")
	waits := 0
	for range s.Due() {
		waits++
	}
	if cell || reminder || waits != 1 {
		t.Error(cell, reminder, waits)
	}
}

func TestH20_APoisonedOutputKeepsItsNumberAndItsCallerLearnsOfIt(t *testing.T) {
	s := owned(t)
	effective(t, s, client(1, "a"))
	effective(t, s, &record.Issued{Epoch: 1, Link: linkOf(1), Children: []record.Call{{ID: record.ID{8}, Target: far("b")}}})
	dest := record.Dest{Partition: name(1)}
	lost := &record.Undeliverable{Epoch: 1, Dest: dest, Number: 1, Failure: record.Failure{Code: "too_large"}}
	fx := effective(t, s, lost)
	if _, empty := s.Waiting(dest)[0].Message.(*record.Empty); !empty || len(fx.Arrivals) != 1 || fx.Arrivals[0].Result.Failure.Code != "too_large" {
		t.Errorf("%+v", fx)
	}
	void(t, s, lost, VoidNothing)
	effective(t, s, ended(linkOf(1)))
}

func TestWhatIsFixedCannotBeChangedByATakeover(t *testing.T) {
	s := owned(t)
	void(t, s, &record.Takeover{Epoch: 2, Window: 11}, VoidFixed)
	void(t, s, &record.Takeover{Epoch: 2, Window: 10, Partitions: 2}, VoidFixed)
	void(t, s, &record.Takeover{Epoch: 3, Window: 10}, VoidEpoch)
	effective(t, s, &record.Takeover{Epoch: 2, Window: 10})
}

func TestAClientThatMissesThePartitionIsVoid(t *testing.T) {
	s := New(name(0))
	s.Apply(&record.Takeover{Epoch: 1, Partitions: 4}, 1)
	for i := range 20 {
		id := strconv.Itoa(i)
		r := &record.ClientRequest{ID: record.ID{byte(i + 1)}, Until: 9, Target: record.To("t", id, 4)}
		if fx := s.Apply(r, 1); (fx.Void == Effective) != (record.PartitionOf(id, 4) == 0) {
			t.Errorf("actor %s: %q", id, fx.Void)
		}
		r.ID[1], r.Target.Index = 1, 0
		if fx := s.Apply(r, 1); (fx.Void == Effective) != (record.PartitionOf(id, 4) == 0) {
			t.Errorf("actor %s, sent to 0: %q", id, fx.Void)
		}
	}
}
