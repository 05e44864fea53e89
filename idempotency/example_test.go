package idempotency_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/backstay-go/backstay/idempotency"
)

func ExampleGuard_Run() {
	store, _ := idempotency.NewMemory(idempotency.MemoryConfig{})
	guard, _ := idempotency.NewGuard(idempotency.GuardConfig{Required: true}, store)

	charge := func(key, body string) {
		answer, replayed, err := guard.Run(context.Background(), idempotency.Request{
			Key:         key,
			Scope:       []string{"tenant-1", "POST /charges"},
			Fingerprint: idempotency.FingerprintOf("POST", "/charges", "alice", body),
		}, func(context.Context) (idempotency.Answer, error) {
			fmt.Println("charging the card")
			return idempotency.Answer{Data: []byte("201 charge-17")}, nil
		})
		if refused, ok := errors.AsType[*idempotency.Error](err); ok {
			fmt.Println(refused.HTTPStatus(), refused)
			return
		}
		fmt.Printf("%s, replayed: %t\n", answer.Data, replayed)
	}
	charge("k1", `{"amount": 10}`)
	charge("k1", `{"amount": 10}`)
	charge("k1", `{"amount": 99}`)
	// Output:
	// charging the card
	// 201 charge-17, replayed: false
	// 201 charge-17, replayed: true
	// 422 idempotency: key "k1": the key was used for another request (use a new key for a new request)
}

func ExampleDo() {
	store, _ := idempotency.NewMemory(idempotency.MemoryConfig{})
	guard, _ := idempotency.NewGuard(idempotency.GuardConfig{}, store)

	for range 2 { // the broker delivers the message twice
		boxes, replayed, err := idempotency.Do(context.Background(), guard, idempotency.Request{
			Key: "message-42", Scope: []string{"orders"},
		}, func(context.Context) (int, error) {
			fmt.Println("packing")
			return 3, nil
		})
		fmt.Println(boxes, replayed, err)
	}
	// Output:
	// packing
	// 3 false <nil>
	// 3 true <nil>
}

func ExampleDerive() {
	// Inside a step that may be retried, every call gets a key of its own, the
	// same on each retry of the step.
	parent := "8e03978e-40d5-43dd-bc93-6894a57f9324"
	fmt.Println(idempotency.Derive(parent, "charge"))
	fmt.Println(idempotency.Derive(parent, "ship"))
	fmt.Println(idempotency.Derive(parent, "charge"))
	// Output:
	// aac6692a-bcd9-87d5-a4e0-b843cedfd6f0
	// c175b4a1-100c-8ff4-9cdc-3465cf910b46
	// aac6692a-bcd9-87d5-a4e0-b843cedfd6f0
}

func ExampleEnsure() {
	payments, _ := idempotency.New(idempotency.Config{Generate: true}, // payments honours keys
		idempotency.WithGenerator(func() string { return "made-for-this-call" }))

	_, key := idempotency.Ensure(context.Background(), payments)
	fmt.Println(payments.Header()+":", payments.Format(key))

	own := idempotency.WithKey(context.Background(), "order-42")
	_, key = idempotency.Ensure(own, payments)
	fmt.Println(payments.Header()+":", payments.Format(key))
	// Output:
	// Idempotency-Key: "made-for-this-call"
	// Idempotency-Key: "order-42"
}

func ExampleParseFields() {
	for _, fields := range [][]string{{`"8e03978e"`}, {"8e03978e"}, {"8e03978e", "other"}} {
		key, err := idempotency.ParseFields(fields)
		fmt.Println(key, errors.Is(err, idempotency.ErrKeyInvalid))
	}
	// Output:
	// 8e03978e false
	// 8e03978e false
	//  true
}
