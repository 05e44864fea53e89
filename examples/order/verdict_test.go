package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestTheVerdictFindsWhatIsWrong(t *testing.T) {
	end := func(s Status) answer { return answer{201, fmt.Sprintf(`{"order":"1","status":%q}`, s)} }
	for _, row := range []struct {
		name    string
		answers []answer
		charges int
		longest time.Duration
		fault   string // none if empty
	}{
		{"one charge for one order is right", []answer{end(Shipped), end(Shipped)}, 1, 0, ""},
		{"none for one that was refused", []answer{end(Refused)}, 0, 0, ""},
		{"an order that was charged twice", []answer{end(Shipped)}, 2, 0, "charged 2 times"},
		{"one that was shipped and never charged", []answer{end(Shipped)}, 0, 0, "charged 0 times"},
		{"one that was refused and charged", []answer{end(Refused)}, 1, 0, "charged 1 times"},
		{"one that has expired and was charged", []answer{{504, `{"status":"expired"}`}}, 1, 0, "1 charges for 0 orders"},
		{"two answers to two clicks", []answer{end(Shipped), end(Refused)}, 1, 0, "two answers"},
		{"a customer who waited for too long", []answer{end(Shipped)}, 1, time.Minute, "waited for 1m0s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := &history{orders: []*purchase{{answers: row.answers}}, charged: map[string]int{"1": row.charges}}
			h.requests.longest = row.longest
			err := h.judge(io.Discard)
			if (err == nil) != (row.fault == "") || err != nil && !strings.Contains(err.Error(), row.fault) {
				t.Errorf("got %v, want %q", err, row.fault)
			}
		})
	}
}

func TestAnAnswerThatDoesNotSayWhatHasBecomeOfTheOrderIsNotFinal(t *testing.T) {
	for body, want := range map[string]bool{
		`{"status":"shipped"}`: true, `{"status":"expired"}`: true,
		`{"title":"Gateway Timeout","status":504}`: false, "": false, "the order cannot be read": false,
	} {
		if got := (answer{body: body}).final(); got != want {
			t.Errorf("%q: got %t", body, got)
		}
	}
}
