package main

import (
	"context"
	"time"

	"github.com/backstay-go/backstay/actors"
)

// philosopher stands for the type of actors.
type philosopher struct{}

// Place is where a philosopher sits: between two forks. First is the one that
// he takes first. If each took the one to his left first, all could hold one
// and wait for the other for ever; so the forks have numbers, and the lower one
// comes first.
type Place struct{ First, Second actors.Ref[fork] }

var (
	Philosopher = actors.NewType[philosopher]("philosopher")

	// Sit seats a philosopher, who begins.
	Sit = actors.Declare[Place, struct{}](Philosopher, "sit")
	// Given hands him a fork that he has asked for.
	Given = actors.Declare[actors.Ref[fork], struct{}](Philosopher, "given")
	// Eaten is how often he has eaten.
	Eaten = actors.DeclareQuery[struct{}, int](Philosopher, "eaten")

	place = actors.NewValue[Place](Philosopher, "place")
	eaten = actors.NewValue[int](Philosopher, "eaten")
)

func hostPhilosophers(t *table) actors.Hosting {
	return actors.Host(Philosopher, patient,
		actors.Handle(Sit, sit),
		actors.Handle(Given, t.given),
		actors.HandleShared(Eaten, func(ctx context.Context, view actors.View[philosopher], _ struct{}) (int, error) {
			return eaten.Get(ctx, view)
		}),
	)
}

// sit is asked for in every life of the process.
func sit(ctx context.Context, self actors.Self[philosopher], at Place) (none struct{}, err error) {
	if _, sits, err := place.Lookup(ctx, self); sits || err != nil {
		return none, err
	}
	if err := place.Set(self, at); err != nil {
		return none, err
	}
	return none, Ask.Tell(ctx, at.First, self.Ref())
}

// given asks for the second fork, or eats. That he has eaten, that the forks
// are free, and that he is hungry again, is one step.
func (t *table) given(ctx context.Context, self actors.Self[philosopher], f actors.Ref[fork]) (none struct{}, err error) {
	at, err := place.Get(ctx, self)
	if err != nil {
		return none, err
	}
	if f == at.First {
		return none, Ask.Tell(ctx, at.Second, self.Ref())
	}
	n, err := eaten.Get(ctx, self)
	if err != nil {
		return none, err
	}
	t.eat(at, self.ID())
	if err := eaten.Set(self, n+1); err != nil {
		return none, err
	}
	for _, f := range []actors.Ref[fork]{at.First, at.Second} {
		if err := Put.Tell(ctx, f, self.Ref()); err != nil {
			return none, err
		}
	}
	if n+1 == meals {
		return none, nil
	}
	return none, Ask.Tell(ctx, at.First, self.Ref())
}

// eat takes its time, and a look whether both forks are really here.
func (t *table) eat(at Place, who string) {
	t.pick(at.First, who)
	defer t.forks.Delete(at.First)
	t.pick(at.Second, who)
	defer t.forks.Delete(at.Second)
	time.Sleep(time.Millisecond)
}
