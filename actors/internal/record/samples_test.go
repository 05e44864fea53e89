package record_test

import (
	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

var (
	here  = record.Partition{Type: "account", Index: 3}
	there = record.Partition{Type: "task"}
	alice = record.Address{Type: "account", Actor: "alice", Index: 3}
	link  = record.Link{ID: record.ID{1, 2}, Life: 1_700_000_000_000, Seq: 4}
	delta = record.Delta{
		Clear: true, Cells: []record.Cell{{Name: "balance", Value: []byte("100")}, {Name: "old", Removed: true}},
		Reminders: []record.Reminder{{Name: "bill", Next: 9, Period: "24h", Method: "bill", Args: []byte("{}"), Baggage: []byte("b")}},
	}
	call = record.Call{
		ID: record.ID{5}, Target: alice, Deadline: -1, TTL: 300, NotBefore: 7, Method: "deposit", Args: []byte("{}"), Name: "0", Baggage: []byte("b"),
	}
	request = record.Request{
		Link: link, Target: alice, Deadline: 8, NotBefore: 9, Method: "deposit", Args: []byte("{}"), Key: "k",
		Return:    record.Return{Kind: record.ReturnParent, Partition: there, Parent: record.ID{6}, Reply: "replies/1"},
		Ancestors: []record.ID{{6}, {7}}, Begun: true, Missed: 2, Baggage: []byte("b"),
	}
	failure = record.Failure{Code: "expired", Message: "too late", Detail: []byte("d")}
)

// samples has a record of every kind, each field of it set.
func samples() map[string]record.Record {
	const epoch = 12
	return map[string]record.Record{
		"client-request": &record.ClientRequest{
			ID: record.ID{1}, Until: 2, Deadline: 3, TTL: 4, NotBefore: 5, Target: alice,
			Method: "deposit", Args: []byte("{}"), Key: "k", Reply: "replies/1", Baggage: []byte("b"),
		},
		"read":     &record.Read{ID: record.ID{1}, Deadline: 3, Target: alice, Method: "balance", Args: []byte("{}"), Reply: "replies/1", Baggage: []byte("b")},
		"request":  &record.Mail{Source: here, Number: 1, Message: &request},
		"response": &record.Mail{Source: here, Number: 2, Message: &record.Response{Child: record.ID{1}, Parent: record.ID{2}, Reply: "r", Result: record.Result{Value: []byte("v"), Failure: &failure}}},
		"empty":    &record.Mail{Source: here, Number: 3, Message: &record.Empty{}},
		"letter": &record.Mail{Source: here, Number: 4, Message: &record.Letter{
			Key: "k", Value: []byte("v"), Headers: []record.Attribute{{Name: "n", Value: []byte("v")}, {}},
			Dead: &record.Dead{Reason: "poison", Request: request, Queued: 1, At: 2, Attempts: 5, Message: "5 attempts"},
		}},
		"cancel":   &record.Cancel{Child: record.ID{1}},
		"revoke":   &record.Cancel{Child: record.ID{1}, Running: true},
		"takeover": &record.Takeover{Epoch: epoch, Nonce: record.ID{1}, Owner: "node-1", Partitions: 16, Window: 60_000},
		"issued":   &record.Issued{Epoch: epoch, Link: link, Call: 2, Children: []record.Call{call, call}, Delta: delta},
		"write":    &record.Write{Epoch: epoch, Link: link, Call: 2, Delta: delta},
		"begun":    &record.Begun{Epoch: epoch, Link: link, Attempt: 3},
		"failed":   &record.Failed{Epoch: epoch, Link: link, Attempt: 3, NotBefore: 99, Reason: "panic"},
		"step-end": &record.Step{
			Epoch: epoch, Link: link, Result: record.Result{Value: []byte("v"), Failure: &failure}, Delta: delta, Tells: []record.Call{call},
			Letters: []record.Posted{{Topic: "t", Key: "k", Value: []byte("v"), Headers: []record.Attribute{{Name: "n"}}}},
		},
		"step-tail":             &record.Step{Epoch: epoch, Link: link, Outcome: record.TailOther, Tail: &call},
		"step-poison":           &record.Step{Epoch: epoch, Link: link, Outcome: record.Poison, Dead: "bank.dead"},
		"expired":               &record.Expired{Epoch: epoch, Links: []record.Link{link, {ID: record.ID{2}}}, Dead: "bank.dead"},
		"forwarded":             &record.Forwarded{Epoch: epoch, Dest: record.Dest{Partition: there}, Number: 9},
		"undeliverable":         &record.Undeliverable{Epoch: epoch, Dest: record.Dest{Topic: "t"}, Number: 9, Failure: failure},
		"undeliverable-instead": &record.Undeliverable{Epoch: epoch, Dest: record.Dest{Partition: there}, Number: 9, Failure: failure, Instead: true},
		"fire":                  &record.Fire{Epoch: epoch, ID: record.ID{1}, Target: alice, Name: "bill", Tick: 9, Then: 10, Missed: 2},
		"ingest": &record.Ingest{
			Epoch: epoch, Topic: "orders", TopicPartition: 1, From: 5, To: 9,
			Messages: []record.Ingested{{Offset: 5, Call: call}, {Offset: 8, Call: call}},
		},
		"ingest-dead": &record.Ingest{
			Epoch: epoch, Topic: "orders", TopicPartition: 1, From: 5, To: 6,
			Messages: []record.Ingested{{Offset: 5, Dead: &record.Posted{Topic: "dead", Key: "k", Value: []byte("v"), Headers: []record.Attribute{{Name: "n"}}}}},
		},
		"unknown-fields": &record.Cancel{Child: record.ID{1}, HeaderKept: codec.Kept{200<<1&0x7f | 0x80, 3, 1}, Kept: codec.Kept{9 << 1, 1}},
	}
}
