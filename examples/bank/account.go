package main

import (
	"context"
	"errors"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// account stands for the type of actors.
type account struct{}

// What callers need.
var (
	Account = actors.NewType[account]("account")

	// Open opens an account with an amount.
	Open = actors.Declare[int, int](Account, "open")
	// Send moves money to another account.
	Send = actors.Declare[Transfer, Receipt](Account, "send")
	// Balance reads the balance.
	Balance = actors.DeclareQuery[struct{}, int](Account, "balance")

	// ErrNoFunds: there is less in the account than is to be sent.
	ErrNoFunds = actors.RegisterError("account.no-funds", errors.New("not enough money"))
)

// Transfer is an order.
type Transfer struct {
	To    actors.Ref[account]
	Cents int
}

// Receipt says what became of it.
type Receipt struct {
	From, To actors.Ref[account]
	Cents    int
	Returned bool // the receiver has no account
}

// What only the host needs.
var (
	cents    = actors.NewValue[int](Account, "cents")
	credit   = actors.Declare[Receipt, Receipt](Account, "credit")
	giveBack = actors.Declare[Receipt, Receipt](Account, "give-back")
)

// patient are the settings of all actors here: a kill counts as an attempt, and
// there are more of them in a second than elsewhere in a year.
var patient = actors.Settings{Retry: retry.Config{MaxAttempts: 100}}

func host() actors.Hosting {
	return actors.Host(Account, patient,
		actors.Handle(Open, open),
		actors.HandleNext(Send, send),
		actors.HandleNext(credit, receive),
		actors.Handle(giveBack, takeBack),
		actors.HandleShared(Balance, func(ctx context.Context, view actors.View[account], _ struct{}) (int, error) {
			return cents.Get(ctx, view)
		}),
	)
}

// open is asked for again by clients that have seen no answer.
func open(ctx context.Context, self actors.Self[account], amount int) (int, error) {
	have, opened, err := cents.Lookup(ctx, self)
	if err != nil || opened {
		return have, err
	}
	return amount, cents.Set(self, amount)
}

// send takes the money off and hands it on, in one act: the tail call is part
// of the step that writes the balance. There is no moment in which it could be
// in both accounts, or in none and forgotten.
func send(ctx context.Context, self actors.Self[account], t Transfer) (next actors.Next[Receipt], err error) {
	have, err := cents.Get(ctx, self)
	switch {
	case err != nil:
		return next, err
	case have < t.Cents:
		return next, ErrNoFunds
	}
	if err := cents.Set(self, have-t.Cents); err != nil {
		return next, err
	}
	return credit.TailTo(t.To, Receipt{From: self.Ref(), To: t.To, Cents: t.Cents}), nil
}

// receive puts the money in, or sends it back where it came from.
func receive(ctx context.Context, self actors.Self[account], r Receipt) (next actors.Next[Receipt], err error) {
	have, opened, err := cents.Lookup(ctx, self)
	switch {
	case err != nil:
		return next, err
	case !opened:
		return giveBack.TailTo(r.From, r), nil
	}
	return actors.Return(r), cents.Set(self, have+r.Cents)
}

func takeBack(ctx context.Context, self actors.Self[account], r Receipt) (Receipt, error) {
	have, err := cents.Get(ctx, self)
	if err != nil {
		return r, err
	}
	r.Returned = true
	return r, cents.Set(self, have+r.Cents)
}
