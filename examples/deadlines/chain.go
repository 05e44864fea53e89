package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// chain is a caller and the services behind one another.
type chain struct {
	caller, gateway, orders, stock *service

	network *http.Transport
	work    work
	out     io.Writer
	mu      sync.Mutex // one line at a time
	began   time.Time
}

func newChain(s scene, out io.Writer) (*chain, error) {
	c := &chain{network: &http.Transport{}, out: out}
	c.stock = &service{name: "stock", takes: s.stock}
	c.orders = &service{name: "orders", takes: 40 * time.Millisecond, needs: 150 * time.Millisecond, next: c.stock}
	c.gateway = &service{name: "gateway", takes: s.gateway, next: c.orders}
	c.caller = &service{name: "caller", next: c.gateway}
	for _, one := range []*service{c.caller, c.gateway, c.orders, c.stock} {
		if err := s.wire(one, c.network); err != nil {
			return nil, err
		}
		one.chain = c
	}
	for _, one := range c.servers() {
		one.server = httptest.NewServer(one.front)
	}
	return c, nil
}

// servers are those who are asked, the first of them first.
func (c *chain) servers() []*service { return []*service{c.gateway, c.orders, c.stock} }

// call makes one call, for which the caller waits as long as its patience lasts.
func (c *chain) call(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c.began = time.Now()
	resp, err := c.caller.ask(ctx)
	c.work.callerLeft.Store(true)
	if err != nil {
		c.note("caller", "leaves: %v", short(err))
		return nil // which is what this story is about
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	c.note("caller", "gets %s: %s", resp.Status, bytes.TrimSpace(answer))
	return err
}

// close waits until every service is done, whoever still waits for it.
func (c *chain) close() {
	for _, one := range c.servers() {
		one.server.Close()
	}
	c.network.CloseIdleConnections()
}

// note tells what somebody does, and when.
func (c *chain) note(who, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "   %4dms  %-8s %s\n", time.Since(c.began).Milliseconds(), who, fmt.Sprintf(format, args...))
}
