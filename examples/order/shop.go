package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
)

// runShop takes orders until ctx ends, if nobody kills it before. People may look
// on at an address, if there is one.
func runShop(ctx context.Context, dir, look string) (err error) {
	seen, err := openSight(ctx, look)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seen.close(context.WithoutCancel(ctx))) }()
	log, err := memory.Open(filepath.Join(dir, "log"), memory.WithPartitions(4), memory.WithoutSync())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	cardService, err := lookUp(dir, "cards")
	if err != nil {
		return err
	}
	cards, err := newCards(cardService, http.DefaultTransport, seen.observer())
	if err != nil {
		return err
	}
	node, err := actors.Open(ctx, actors.Config{Name: "orders", Observer: seen.observer()}, log, host(cards))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop(context.WithoutCancel(ctx))) }()
	if err := seen.show(cards, node); err != nil {
		return err
	}
	return listen(ctx, dir, node)
}

// listen serves HTTP. Every request has the node in its context, so that
// handlers call actors with the context of their requests.
func listen(ctx context.Context, dir string, node *actors.Node) error {
	handler, err := newHandler()
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	background := context.WithoutCancel(ctx) // requests end when they are answered
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return node.Context(background) },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if err := publish(dir, "orders", "http://"+listener.Addr().String()); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Shutdown(background)
	}
}

// publish tells all who look into the folder where a service is.
func publish(dir, service, url string) error {
	file := filepath.Join(dir, service)
	if err := os.WriteFile(file+".next", []byte(url), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".next", file)
}

func lookUp(dir, service string) (url string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, service)) //nolint:gosec // in a folder of our own
	return string(text), err
}
