package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/backstay-go/backstay/middleware"
)

// Reviews hangs until the test is over, so that nothing here depends on how
// fast the machine is.
func TestTheHealthyDependencyHasRoomOnlyWithBulkheads(t *testing.T) {
	for _, row := range []struct {
		name              string
		config            middleware.Config
		admitted, refused int // of as many calls for reviews as there is room for
		priced            bool
	}{
		{"without a bulkhead reviews fills the room", middleware.Config{}, room, 0, false},
		{"with bulkheads half of it is left", halves, room / 2, room / 2, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			arrived := make(chan struct{}, room)
			hanging := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
				arrived <- struct{}{}
				<-req.Context().Done()
			})
			f, err := newFront(row.config, taking(0), hanging)
			if err != nil {
				t.Fatal(err)
			}
			defer f.close()
			network := new(http.Transport)
			defer network.CloseIdleConnections()
			client := &http.Client{Transport: network}

			ctx, leave := context.WithTimeout(t.Context(), 10*time.Second)
			statuses := make(chan int, room)
			var callers sync.WaitGroup
			for range room {
				callers.Go(func() {
					status, _ := get(ctx, client, f.server.URL+"/reviews")
					statuses <- status // 0 for those who leave in the end
				})
			}
			for range row.admitted {
				<-arrived
			}
			for range row.refused {
				if status := <-statuses; status != http.StatusServiceUnavailable {
					t.Errorf("got %d for what does not fit", status)
				}
			}
			outside, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			if row.priced {
				outside = ctx
			}
			status, err := get(outside, client, f.server.URL+"/prices")
			if priced := err == nil && status == http.StatusOK; priced != row.priced {
				t.Errorf("asking for a price: %d, %v", status, err)
			}
			cancel()
			leave()
			callers.Wait()
		})
	}
}
