package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/redis"
)

// fake answers every script with the same. What scripts do is tried against a
// real server, in e2e/redis/actors.
type fake struct {
	reply  any
	err    error
	known  bool
	hashes int
	texts  int
	rows   []int // of each save
}

func (f *fake) answer(ctx context.Context, keys []string) *goredis.Cmd {
	f.rows = append(f.rows, len(keys)-2)
	c := goredis.NewCmd(ctx)
	c.SetVal(f.reply)
	if f.err != nil {
		c.SetErr(f.err)
	}
	return c
}

func (f *fake) EvalSha(ctx context.Context, _ string, keys []string, _ ...any) *goredis.Cmd {
	f.hashes++
	if !f.known {
		c := goredis.NewCmd(ctx)
		c.SetErr(redisError("NOSCRIPT No matching script."))
		return c
	}
	return f.answer(ctx, keys)
}

func (f *fake) Eval(ctx context.Context, _ string, keys []string, _ ...any) *goredis.Cmd {
	f.texts++
	f.known = true
	return f.answer(ctx, keys)
}

func (f *fake) HGet(ctx context.Context, _, _ string) *goredis.StringCmd {
	c := goredis.NewStringCmd(ctx)
	c.SetErr(goredis.Nil)
	return c
}

func (f *fake) ZRangeByLex(ctx context.Context, _ string, _ *goredis.ZRangeBy) *goredis.StringSliceCmd {
	return goredis.NewStringSliceCmd(ctx)
}

type redisError string

func (e redisError) Error() string { return string(e) }
func (redisError) RedisError()     {}

var p = journal.Partition{Type: "t"}

func open(t *testing.T, f *fake) *redis.Store {
	t.Helper()
	s, err := redis.New(redis.Config{}, f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func many(actors, cells int) []journal.Change {
	all := make([]journal.Change, actors)
	for i := range all {
		all[i].Actor = fmt.Sprint(i)
		for k := range cells {
			all[i].Cells = append(all[i].Cells, journal.Cell{Name: fmt.Sprint(k), Removed: k%2 == 0})
		}
	}
	return all
}

func TestASaveIsOneRoundTripIfItIsSmall(t *testing.T) {
	for name, c := range map[string]struct {
		changes []journal.Change
		want    []int
	}{
		"nothing":            {nil, []int{0}},
		"500 actors":         {many(500, 3), []int{500}},
		"1,001 actors":       {many(1001, 1), []int{500, 500, 1}},
		"a large actor":      {many(1, 2500), []int{3}},
		"an actor untouched": {many(1, 0), []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{reply: int64(1), known: true}
			if err := open(t, f).Save(t.Context(), p, 7, c.changes); err != nil || !slices.Equal(f.rows, c.want) {
				t.Errorf("%v in parts of %v, want %v", err, f.rows, c.want)
			}
		})
	}
}

func TestARedisThatDoesNotKnowTheScriptIsTaughtIt(t *testing.T) {
	f := &fake{reply: int64(1)}
	s := open(t, f)
	for at := range int64(2) {
		if err := s.Save(t.Context(), p, at, many(1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if f.hashes != 2 || f.texts != 1 {
		t.Errorf("asked %d times by hash and %d times by text", f.hashes, f.texts)
	}
}

func TestWhatRedisAnswers(t *testing.T) {
	broken := errors.New("connection refused")
	for name, c := range map[string]struct {
		f    fake
		want error
	}{
		"too late": {fake{reply: int64(0), known: true}, redis.ErrOutdated},
		"lost":     {fake{reply: int64(-1), known: true}, redis.ErrLost},
		"broken":   {fake{err: broken, known: true}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			if err := open(t, &c.f).Save(t.Context(), p, 7, many(1, 1)); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "t/0") {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if _, _, err := open(t, &fake{reply: []any{"", "x"}, known: true}).Load(t.Context(), p, "a"); err == nil {
		t.Error("a row whose offset is no number was read")
	}
	if at, err := open(t, &fake{}).Saved(t.Context(), p); at != 0 || err != nil {
		t.Errorf("nothing was saved: %d, %v", at, err)
	}
	if _, err := redis.New(redis.Config{}, nil); err == nil {
		t.Error("a store without a client")
	}
}
