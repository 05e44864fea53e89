package redis_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	goredis "github.com/redis/go-redis/v9"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

func Example() { //nolint:testableexamples // it needs a Redis, so that it is compiled and not run
	client := goredis.NewClient(&goredis.Options{
		Addr:                  "localhost:6379",
		ContextTimeoutEnabled: true, // required: operations end in time
		DialerRetries:         1,    // a server that refuses connections is noticed at once
		MaxRetries:            1,
	})

	scope := &backstay.Scope{Policy: "payments", Observer: backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
		log.Println(e.Kind, e.Operation, e.Err) // in earnest middleware/slogmw or middleware/otelmw
	})}
	store, err := redis.New(redis.Config{Prefix: "payments:idem:"}, client, redis.WithScope(scope))
	if err != nil {
		log.Fatal(err) // every fault at once
	}
	// The client is closed when the last guard that uses the store is done.
	guard, err := idempotency.NewGuard(idempotency.GuardConfig{Required: true}, store, idempotency.WithScope(scope))
	if err != nil {
		log.Fatal(err)
	}

	answer, replayed, err := guard.Run(context.Background(), idempotency.Request{
		Key:         "8e03978e-40d5-43dd-bc93-6894a57f9324",
		Scope:       []string{"tenant-1", "POST /charges"},
		Fingerprint: idempotency.FingerprintOf("POST", "/charges", "alice", `{"amount": 10}`),
	}, func(context.Context) (idempotency.Answer, error) {
		return idempotency.Answer{Data: []byte("201 charge-17")}, nil
	})
	if refused, ok := errors.AsType[*idempotency.Error](err); ok {
		fmt.Println(refused.HTTPStatus(), refused) // 503 where Redis is down
		return
	}
	fmt.Printf("%s, replayed: %t\n", answer.Data, replayed)
}
