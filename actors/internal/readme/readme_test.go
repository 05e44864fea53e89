// Package readme_test has the actor of the project's README, so that it
// compiles and does what is said there.
package readme_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

type account struct{} // stands for the type of actors

var (
	Account = actors.NewType[account]("account")
	Deposit = actors.Declare[int, int](Account, "deposit")
	balance = actors.NewValue[int](Account, "balance")
)

func deposit(ctx context.Context, self actors.Self[account], cents int) (int, error) {
	b, err := balance.Get(ctx, self)
	if err != nil {
		return 0, err
	}
	return b + cents, balance.Set(self, b+cents)
}

func TestTheReadmesActorCountsAKeyOnceAcrossARestart(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 2 {
		if b, err := run(t.Context()); err != nil || b != 100 {
			t.Errorf("got %d, %v", b, err)
		}
	}
}

func run(ctx context.Context) (int, error) {
	log, err := memory.Open("data") // files of this process; memory.New() for none
	if err != nil {
		return 0, err
	}
	defer func() { _ = log.Close() }()
	node, err := actors.Open(ctx, actors.Config{}, log,
		actors.Host(Account, actors.Settings{}, actors.Handle(Deposit, deposit)))
	if err != nil {
		return 0, err
	}
	defer func() { _ = node.Stop(ctx) }()

	b, err := Deposit.Call(node.Context(ctx), Account.Ref("alice"), 100, actors.IdempotencyKey("order 7"))
	return b, err
}

func TestTheReadmeHasThisActor(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "An actor is a type, methods, and values")
	_, rest, _ = strings.Cut(rest, "```go\n")
	code, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no actor")
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(source)) {
		lines[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" && !lines[line] {
			t.Errorf("this line of the README is not here: %s", line)
		}
	}
}
