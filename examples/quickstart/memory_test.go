package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/backstay-go/backstay/internal/testkit"
)

// inMemory is a stage whose network is memory, so that a bubble's time stands
// for the day's, however busy the machine is.
func inMemory() *stage {
	p := testkit.NewPipes("menu")
	menu := &service{answer: "soup, fish, cake"}
	menu.server = httptest.NewUnstartedServer(menu)
	_ = menu.server.Listener.Close()
	menu.server.Listener = p
	menu.server.Start()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx) }
	return &stage{
		payments: menu, menu: menu, out: io.Discard,
		network: &http.Transport{MaxIdleConnsPerHost: 100, DialContext: dial},
	}
}
