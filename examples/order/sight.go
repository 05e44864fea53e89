package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/admin"
	"github.com/backstay-go/backstay/middleware/console"
)

// sight is what people may look at while orders are taken: the live page of
// pipelines and actors, and the handler that the command backstay asks. Its
// address stays the same however often the process is killed, so an open page
// comes back by itself, and shows how its actors were taken over.
type sight struct {
	page   *console.Console
	mux    *http.ServeMux
	server *http.Server
	ended  chan error
}

// openSight serves at addr. Without one nobody looks: a nil sight is good, too.
func openSight(ctx context.Context, addr string) (*sight, error) {
	if addr == "" {
		return nil, nil //nolint:nilnil // as said
	}
	page, err := console.New(console.Config{Title: "Orders"})
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &sight{page: page, mux: http.NewServeMux(), ended: make(chan error, 1)}
	s.mux.Handle("/", page)
	s.server = &http.Server{Handler: s.mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.ended <- s.server.Serve(listener) }()
	return s, nil
}

// observer is who is to be told of calls and actors.
func (s *sight) observer() backstay.Observer {
	if s == nil {
		return nil
	}
	return s.page.Observer()
}

// show puts what there is on the page.
func (s *sight) show(c *cards, node *actors.Node) error {
	if s == nil {
		return nil
	}
	handler, err := admin.New(node)
	if err != nil {
		return err
	}
	s.mux.Handle("/actors/", handler)
	return errors.Join(s.page.Add("cards", c.transport.Pipelines()), s.page.AddActors("orders", node))
}

// close sends away who still looks.
func (s *sight) close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := errors.Join(s.page.Close(ctx), s.server.Close())
	<-s.ended //nolint:errcheck // it was closed
	return err
}
