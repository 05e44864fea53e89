package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

// dumbStore is the model: a map without bounds, an owner, a time.
type dumbStore map[string]*dumbRecord

type dumbRecord struct {
	owner idempotency.Token
	print idempotency.Fingerprint
	done  bool
	kept  string
	ends  time.Duration
}

func (s dumbStore) alive(key string, now time.Duration) *dumbRecord {
	if r := s[key]; r != nil && now < r.ends {
		return r
	}
	return nil
}

func (s dumbStore) begin(now time.Duration, c idempotency.Claim, f idempotency.Fingerprint, lease time.Duration) string {
	r := s.alive(c.Key, now)
	if r == nil {
		s[c.Key] = &dumbRecord{owner: c.Owner, print: f, ends: now + lease}
		return "started"
	}
	if r.print != f {
		return "mismatched"
	}
	if r.done {
		return "completed " + r.kept
	}
	if r.owner == c.Owner {
		r.ends = now + lease
		return "started"
	}
	return fmt.Sprint("in flight ", r.ends-now)
}

func (s dumbStore) step(op byte, now time.Duration, c idempotency.Claim, answer string, d time.Duration) string {
	r := s.alive(c.Key, now)
	if r == nil || r.owner != c.Owner {
		return "lost"
	}
	if r.done {
		if op == opComplete {
			return "ok"
		}
		return "lost"
	}
	switch op {
	case opRenew:
		r.ends = now + d
	case opComplete:
		r.done, r.kept, r.ends = true, answer, now+d
	case opRelease:
		delete(s, c.Key)
	}
	return "ok"
}

const (
	opBegin = iota
	opRenew
	opComplete
	opRelease
	opSleep
	opWait
	ops
)

// FuzzMemory runs a sequence of operations, three bytes each, against Memory
// and the model.
func FuzzMemory(f *testing.F) {
	f.Add([]byte{opBegin, 0, 3, opBegin, 0x10, 3, opSleep, 0, 3, opBegin, 0x10, 1, opComplete, 0, 5, opComplete, 0x10, 5, opBegin, 0, 1})
	f.Add([]byte{opBegin, 1, 1, opRenew, 1, 9, opSleep, 0, 5, opBegin, 0x91, 1, opRelease, 1, 0, opBegin, 0x91, 1})
	f.Add([]byte{opBegin, 2, 2, opComplete, 2, 2, opComplete, 2, 200, opRelease, 2, 0, opRenew, 2, 7, opSleep, 0, 2, opBegin, 0x12, 1})
	f.Add([]byte{opBegin, 3, 4, opWait, 3, 2, opWait, 3, 4, opBegin, 3, 9})
	f.Fuzz(func(t *testing.T, steps []byte) {
		synctest.Test(t, func(t *testing.T) { agree(t, steps[:min(len(steps), 600)]) })
	})
}

// agree wants Memory and the model to answer alike.
func agree(t *testing.T, steps []byte) {
	m, model := bounded(t, idempotency.MemoryConfig{}), dumbStore{}
	began := time.Now()
	for i := 0; i+2 < len(steps); i += 3 {
		op, who := steps[i]%ops, steps[i+1]
		d := time.Duration(steps[i+2]+1) * time.Second
		now := time.Since(began)
		c := idempotency.Claim{Key: fmt.Sprint(who % 4), Owner: idempotency.Token{who >> 4 & 3}}
		answer := fmt.Sprint("answer ", i)
		var got, want string
		switch op {
		case opBegin:
			f := idempotency.Fingerprint{who >> 6 & 1}
			r, err := m.Begin(t.Context(), c, f, d)
			got, want = tell(r, err), model.begin(now, c, f, d)
		case opRenew:
			got, want = outcome(m.Renew(t.Context(), c, d)), model.step(op, now, c, "", d)
		case opComplete:
			err := m.Complete(t.Context(), c, idempotency.Record{Answer: []byte(answer)}, d)
			got, want = outcome(err), model.step(op, now, c, answer, d)
		case opRelease:
			got, want = outcome(m.Release(t.Context(), c)), model.step(op, now, c, "", d)
		case opSleep:
			time.Sleep(d)
		case opWait:
			got, want = waited(t, m, c.Key, d), model.wait(now, c.Key, d)
		}
		if got != want {
			t.Fatalf("step %d, operation %d by %v after %v: got %q, want %q", i/3, op, c, now, got, want)
		}
	}
}

func tell(r idempotency.Result, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case r.State == idempotency.InFlight:
		return fmt.Sprint("in flight ", r.Remaining)
	case r.State == idempotency.Completed:
		return "completed " + string(r.Record.Answer)
	default:
		return r.State.String()
	}
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, idempotency.ErrLeaseLost):
		return "lost"
	default:
		return err.Error()
	}
}

// waited waits at most d, and tells for how long it did.
func waited(t *testing.T, m *idempotency.Memory, key string, d time.Duration) string {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	began := backstay.Now()
	_ = m.Wait(ctx, key)
	return backstay.Now().Sub(began).String()
}

func (s dumbStore) wait(now time.Duration, key string, d time.Duration) string {
	r := s.alive(key, now)
	if r == nil || r.done {
		return "0s"
	}
	return min(d, r.ends-now).String()
}
