package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/backstay-go/backstay/idempotency"
)

// scene is one way to charge a card.
type scene struct {
	title string
	play  func(ctx context.Context, b *bank, s *shop) error
}

var scenes = []scene{
	{"The answer is lost, and the client simply tries again", simplyAgain},
	{"The answer is lost, and Backstay tries again with the key of the first attempt", sameKey},
	{"The customer clicks twice", doubleClick},
	{"The key comes back with another amount", otherAmount},
}

// perform plays the scene, and returns the bank when it is closed.
func (s scene) perform(ctx context.Context, out io.Writer) (*bank, error) {
	b, err := openBank()
	if err != nil {
		return nil, err
	}
	defer b.close()
	customer, err := newShop(b.server.URL, out)
	if err != nil {
		return nil, err
	}
	defer customer.close()
	return b, s.play(ctx, b, customer)
}

func simplyAgain(ctx context.Context, b *bank, s *shop) error {
	b.loseNext.Store(true)
	client := &http.Client{Transport: s.network}
	for range 3 {
		a, err := s.charge(ctx, client, 25)
		if err == nil {
			s.say("%v", a)
			return nil
		}
		s.say("no answer, so again: %v", err) // what else could it do?
	}
	return errors.New("no answer at all")
}

func sameKey(ctx context.Context, b *bank, s *shop) error {
	b.loseNext.Store(true)
	a, err := s.charge(ctx, s.careful, 25)
	if err != nil {
		return err
	}
	s.say("%v", a)
	s.say("%v", a.report)
	s.say("the answer is the lost one, byte for byte: %t", bytes.Equal(a.body, b.lostAnswer()))
	return nil
}

func doubleClick(ctx context.Context, _ *bank, s *shop) error {
	ctx = idempotency.WithKey(ctx, idempotency.NewKey()) // made with the form, sent with each click
	var clicks sync.WaitGroup
	var answers [2]answer
	var errs [2]error
	for i := range answers {
		clicks.Go(func() { answers[i], errs[i] = s.charge(ctx, s.careful, 25) })
	}
	clicks.Wait()
	for i, a := range answers {
		if errs[i] != nil {
			return fmt.Errorf("click %d: %w", i+1, errs[i])
		}
		s.say("click %d: %v", i+1, a)
	}
	s.say("both answers are the same, byte for byte: %t", bytes.Equal(answers[0].body, answers[1].body))
	return nil
}

func otherAmount(ctx context.Context, _ *bank, s *shop) error {
	ctx = idempotency.WithKey(ctx, "order-42")
	for _, amount := range []int{25, 99} {
		a, err := s.charge(ctx, s.careful, amount)
		if err != nil {
			return err
		}
		s.say("%v", a)
	}
	return nil
}
