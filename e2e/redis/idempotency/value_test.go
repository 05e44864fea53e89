package idempotency_test

import (
	"errors"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

const name = redis.DefaultPrefix + "k"

// began makes a key in flight, as a Store does.
func began(t *testing.T, client *goredis.Client) {
	t.Helper()
	if _, err := over(t, client, redis.Config{}).Begin(t.Context(), owner("k"), idempotency.Fingerprint{}, time.Minute); err != nil {
		t.Fatal(err)
	}
}

func TestAKeyThatHoldsSomethingElseIsAClearErrorAndStaysAsItIs(t *testing.T) {
	server := service.StartRedis(t)
	client := connect(t, server.Addr)
	store := over(t, client, redis.Config{})
	for name, spoil := range map[string]func() error{
		"a string":         func() error { return client.Set(t.Context(), name, "x", 0).Err() },
		"a list":           func() error { return client.LPush(t.Context(), name, "x").Err() },
		"another hash":     func() error { return client.HSet(t.Context(), name, "x", "y").Err() },
		"a truncated head": func() error { return client.HSet(t.Context(), name, "h", "short", "l", "").Err() },
		"a lease without an end": func() error {
			began(t, client)
			return client.Persist(t.Context(), name).Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			client.FlushAll(t.Context())
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			before := client.Dump(t.Context(), "backstay:idem:k").Val()
			claim := owner("k")
			_, err := store.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Minute)
			if !errors.Is(err, redis.ErrCorrupt) || backstay.Classify(err).Class != backstay.Fault {
				t.Errorf("Begin: %v, want ErrCorrupt", err)
			}
			t.Log(err)
			for step, err := range map[string]error{
				"Renew":    store.Renew(t.Context(), claim, time.Minute),
				"Complete": store.Complete(t.Context(), claim, idempotency.Record{}, time.Minute),
				"Release":  store.Release(t.Context(), claim),
			} {
				if !errors.Is(err, redis.ErrCorrupt) && !errors.Is(err, idempotency.ErrLeaseLost) {
					t.Errorf("%s: %v", step, err)
				}
			}
			if after := client.Dump(t.Context(), "backstay:idem:k").Val(); after != before {
				t.Errorf("it was %q and is %q", before, after)
			}
		})
	}
}

func TestAServerThatForgotTheScriptsIsTaughtThemAgain(t *testing.T) {
	server := service.StartRedis(t)
	client := connect(t, server.Addr)
	store, claim := over(t, client, redis.Config{}), owner("k")
	for step, do := range []func() error{
		func() error {
			_, err := store.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Minute)
			return err
		},
		func() error { return store.Renew(t.Context(), claim, time.Minute) },
		func() error { return store.Complete(t.Context(), claim, idempotency.Record{}, time.Minute) },
		func() error { return store.Release(t.Context(), owner("k2")) },
	} {
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if err := do(); err != nil && !errors.Is(err, idempotency.ErrLeaseLost) {
			t.Errorf("step %d: %v", step, err)
		}
	}
}

func TestEveryKeyExpiresAndAllBeginWithThePrefix(t *testing.T) {
	server := service.StartRedis(t)
	client := connect(t, server.Addr)
	one, other := over(t, client, redis.Config{Prefix: "one:"}), over(t, client, redis.Config{Prefix: "other:"})
	for _, store := range []*redis.Store{one, other} { // the same key of two services
		claim := owner("k")
		if got, err := store.Begin(t.Context(), claim, idempotency.Fingerprint{}, time.Minute); err != nil || got.State != idempotency.Started {
			t.Fatalf("%v, %v", got.State, err)
		}
		if err := store.Complete(t.Context(), claim, idempotency.Record{Answer: []byte("a")}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one:k", "other:k"} {
		if left := client.PTTL(t.Context(), name).Val(); left <= time.Minute || left > time.Hour {
			t.Errorf("%s expires in %v, want an hour", name, left)
		}
	}
	if n := client.DBSize(t.Context()).Val(); n != 2 {
		t.Errorf("there are %d keys, want 2", n)
	}
}

// A user of Redis who may do what the documentation says, and no more.
func TestTheDocumentedRightsSuffice(t *testing.T) {
	server := service.StartRedis(t)
	admin := connect(t, server.Addr)
	err := admin.Do(t.Context(), "ACL", "SETUSER", "guard", "on", ">secret", "resetkeys", "~backstay:idem:*", "-@all",
		"+evalsha", "+eval", "+exists", "+hmget", "+hget", "+hset", "+hdel", "+pexpire", "+pttl", "+del").Err()
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr, Username: "guard", Password: "secret", ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	guard := guardOver(t, over(t, client, redis.Config{}), quick)
	for range 2 {
		if got, _, err := guard.Run(t.Context(), request("k", "body"), answering("answer")); err != nil || string(got.Data) != "answer" {
			t.Errorf("%q, %v", got.Data, err)
		}
	}
}
