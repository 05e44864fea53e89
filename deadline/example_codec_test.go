package deadline_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/backstay-go/backstay/deadline"
)

// A client tells how long it still waits, at the moment of sending.
func ExampleInject() {
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://inventory.internal/", http.NoBody)

	attempt := 2 * time.Second
	deadline.Inject(req.Context(), req.Header, deadline.BackstayTimeout(), attempt)

	fmt.Println(req.Header.Get(deadline.DefaultHeader), "ms")
	// Output: 2000 ms
}

// A server refuses what can no longer be done in time.
func ExampleExtract() {
	in, err := deadline.NewIncoming(deadline.IncomingConfig{Minimum: 20 * time.Millisecond}, nil)
	if err != nil {
		panic(err)
	}
	header := http.Header{}
	header.Set(deadline.DefaultHeader, "5")

	_, cancel, err := deadline.Extract(context.Background(), header, in, 0)
	defer cancel()

	fmt.Println(errors.Is(err, deadline.ErrTooLate))
	fmt.Println(err)
	// Output:
	// true
	// deadline: too late: 5ms left, 20ms needed; nothing was begun
}
