package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// busyMachine is what a machine with other things to do may add to a customer's
// patience.
const busyMachine = time.Second

// requests are those that the customers sent.
type requests struct {
	mu      sync.Mutex
	all     int
	broken  int // without any answer
	again   int // answered, but not with what has become of the order
	longest time.Duration
}

// count counts one.
func (r *requests) count(took time.Duration, a answer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all++
	switch {
	case err != nil:
		r.broken++
	case !a.final():
		r.again++
	}
	r.longest = max(r.longest, took)
}

// history is what happened in a day.
type history struct {
	orders   []*purchase
	requests requests
	kills    int
	asked    int64          // how often the card service was asked to charge
	charged  map[string]int // how often it did, by order
}

// judge tells the story, and returns what is wrong with it.
func (h *history) judge(out io.Writer) error {
	ends := make(map[Status]int)
	var faults []error
	for _, p := range h.orders {
		r := p.answers[0].receipt()
		ends[r.Status]++
		faults = append(faults, p.same(), right(r, h.charged[r.Order]))
	}
	if sum := sumOf(h.charged); sum != ends[Shipped] {
		faults = append(faults, fmt.Errorf("%d charges for %d orders that were shipped", sum, ends[Shipped]))
	}
	if h.requests.longest > patience+busyMachine {
		faults = append(faults, fmt.Errorf("a customer waited for %v, and had %v", h.requests.longest, patience))
	}
	h.print(out, ends)
	return errors.Join(faults...)
}

func (h *history) print(out io.Writer, ends map[Status]int) {
	say := func(format string, args ...any) { fmt.Fprintf(out, "  "+format+"\n", args...) }
	r := &h.requests
	say("%d orders: %d shipped, %d refused for their cards, %d expired before anybody began with them",
		len(h.orders), ends[Shipped], ends[Refused], ends[Expired])
	say("%d requests for them: %d broke off, %d were told in time that there is no answer yet, the slowest after %v of %v",
		r.all, r.broken, r.again, r.longest.Round(time.Millisecond), patience)
	say("%d requests to charge, %d charges", h.asked, sumOf(h.charged))
	say("The process was killed %d times.", h.kills)
}

// sumOf is the number of all charges.
func sumOf(charged map[string]int) (sum int) {
	for _, n := range charged {
		sum += n
	}
	return sum
}

// same says if one key got two answers.
func (p *purchase) same() error {
	for _, a := range p.answers[1:] {
		if a != p.answers[0] {
			return fmt.Errorf("one order, two answers: %v and %v", p.answers[0], a)
		}
	}
	return nil
}

// right says if an order was not charged as often as it should.
func right(r Receipt, charges int) error {
	want := 0
	if r.Status == Shipped {
		want = 1
	}
	if charges != want {
		return fmt.Errorf("order %s is %s and was charged %d times", r.Order, r.Status, charges)
	}
	return nil
}
