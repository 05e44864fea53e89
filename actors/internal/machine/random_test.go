package machine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

// lots draws records: few ids, actors, partitions and numbers, so that they
// meet. Most make no sense together, as in a log with copies and zombies.
type lots struct{ *rand.Rand }

func (l lots) id() record.ID { return record.ID{byte(1 + l.IntN(6))} }
func (l lots) link() record.Link {
	return record.Link{ID: l.id(), Life: int64(l.IntN(2) * 40), Seq: uint64(l.IntN(2))}
}
func (l lots) address() record.Address {
	return record.Address{Type: "t", Actor: string(rune('a' + l.IntN(2))), Index: uint32(l.IntN(2))}
}
func (l lots) dest() record.Dest { return record.Dest{Partition: name(1)} }
func (l lots) number() uint64    { return uint64(1 + l.IntN(4)) }
func (l lots) call() record.Call {
	return record.Call{ID: l.id(), Target: l.address(), Method: "m", Args: []byte{1}, TTL: int64(l.IntN(3)), NotBefore: int64(l.IntN(2) * 30), Name: "n"}
}

func (l lots) delta() record.Delta {
	return record.Delta{
		Clear: l.IntN(8) == 0, Cells: []record.Cell{{Name: "v", Value: []byte{byte(l.IntN(9))}}, {Name: "w", Removed: l.IntN(2) == 0}},
		Reminders: []record.Reminder{{Name: "r", Next: int64(l.IntN(3) * 20), Method: "m"}},
	}
}

func (l lots) message() record.Message {
	switch l.IntN(4) {
	case 0:
		return &record.Response{Child: l.id(), Parent: l.id(), Result: record.Result{Value: []byte{1}}}
	case 1:
		return &record.Response{Child: l.id(), Reply: "r"}
	case 2:
		return &record.Empty{}
	}
	return &record.Request{
		Link: l.link(), Target: record.To("t", "a", 1), Deadline: int64(l.IntN(60)), NotBefore: int64(l.IntN(60)), Key: "k", Ancestors: []record.ID{l.id()},
		Return: record.Return{Kind: record.ReturnKind(l.IntN(3)), Partition: name(l.IntN(2)), Parent: l.id(), Reply: "r"},
	}
}

func (l lots) record(s *State) record.Record {
	epoch := s.Epoch() - uint64(l.IntN(8)/7)
	switch l.IntN(15) {
	case 0, 1:
		return &record.ClientRequest{ID: l.id(), Until: 40 * int64(1+l.IntN(4)), Target: record.Address{Type: "t", Actor: "a"}, TTL: 5, NotBefore: int64(l.IntN(60)), Reply: "r"}
	case 2:
		return &record.Mail{Source: name(1), Number: s.in[name(1)] + uint64(l.IntN(3)), Message: l.message()}
	case 3:
		return &record.Cancel{Child: l.id()}
	case 4:
		return &record.Takeover{Epoch: epoch + uint64(l.IntN(2)), Nonce: l.id(), Partitions: 1, Window: 10}
	case 5, 6:
		return &record.Issued{Epoch: epoch, Link: l.link(), Call: uint64(l.IntN(2)), Children: []record.Call{l.call(), l.call()}, Delta: l.delta()}
	case 7:
		return &record.Write{Epoch: epoch, Link: l.link(), Call: uint64(l.IntN(2)), Delta: l.delta()}
	case 8:
		return &record.Begun{Epoch: epoch, Link: l.link(), Attempt: l.number()}
	case 9:
		return &record.Failed{Epoch: epoch, Link: l.link(), Attempt: l.number(), NotBefore: 9}
	case 10:
		tail := l.call()
		return &record.Step{Epoch: epoch, Link: l.link(), Outcome: record.TailSelf + record.Outcome(l.IntN(2)), Tail: &tail, Delta: l.delta(), Tells: []record.Call{l.call()}}
	case 11:
		return &record.Step{Epoch: epoch, Link: l.link(), Outcome: []record.Outcome{record.End, record.DeadlinePassed, record.Cancelled, record.Poison}[l.IntN(4)], Dead: "dead"}
	case 12:
		return &record.Undeliverable{Epoch: epoch, Dest: l.dest(), Number: l.number(), Instead: l.IntN(2) == 0}
	case 13:
		return &record.Forwarded{Epoch: epoch, Dest: l.dest(), Number: l.number()}
	default:
		for due := range s.Due() {
			return &record.Fire{Epoch: epoch, ID: due.ID, Name: due.Name, Tick: due.At, Then: int64(l.IntN(2) * 70), Target: record.Address{Type: "t", Actor: due.Actor}}
		}
		return &record.Expired{Epoch: epoch, Links: []record.Link{l.link(), l.link()}}
	}
}

// Acceptance case A58.
func TestA58_ASnapshotAndTheRestOfTheLogAreTheWholeLog(t *testing.T) {
	effective := make(map[record.Kind]int)
	for seed := range uint64(300) {
		l := lots{rand.New(rand.NewPCG(seed, 2))}
		whole, resumed := New(name(0)), New(name(0))
		for at := range int64(200) {
			r := l.record(whole)
			fx := whole.Apply(r, at)
			if fx.Void == Effective {
				effective[r.Kind()]++
			}
			read, err := record.Decode(record.Encode(r)) // another reader has objects of its own
			if err != nil {
				t.Fatal(err)
			}
			resumed.Apply(read, at)
			if l.IntN(10) == 0 {
				if resumed, err = Restore(resumed.Snapshot()); err != nil {
					t.Fatal(err)
				}
			}
			if a, b := whole.Snapshot(), resumed.Snapshot(); !bytes.Equal(a, b) {
				t.Fatalf("seed %d, record %d (%v):\n%x\n%x", seed, at, r.Kind(), a, b)
			}
		}
	}
	for k := record.KindClientRequest; k <= record.KindFire; k++ {
		if k != record.KindRead && effective[k] == 0 {
			t.Errorf("no %v had an effect", k)
		}
	}
}

func TestAVoidRecordChangesNothingButTheClock(t *testing.T) {
	for seed := range uint64(200) {
		l := lots{rand.New(rand.NewPCG(seed, 3))}
		s := New(name(0))
		for at := range int64(150) {
			r := l.record(s)
			s.Skip(at)
			before := s.Snapshot()
			if fx := s.Apply(r, at); fx.Void != Effective && fx.Void != VoidKnown && !bytes.Equal(before, s.Snapshot()) {
				t.Fatalf("seed %d, record %d: a %v that is void (%s) changed the state", seed, at, r.Kind(), fx.Void)
			}
		}
	}
}

func FuzzRestoreNeverPanics(f *testing.F) {
	l := lots{rand.New(rand.NewPCG(1, 4))}
	s := New(name(0))
	for at := range int64(60) {
		s.Apply(l.record(s), at)
		f.Add(s.Snapshot())
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		if s, err := Restore(b); err == nil {
			s.Apply(&record.Takeover{Epoch: s.Epoch() + 1}, 1<<40)
			_ = s.Snapshot()
		}
	})
}
