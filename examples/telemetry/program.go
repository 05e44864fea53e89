package main

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/middleware/otelmw"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

//go:embed policies.yaml
var policies []byte

// program is a client of the stock, and what it needs.
type program struct {
	stock    *stock
	backend  *httptest.Server
	observer *otelmw.Observer
	metrics  *http.Server
	file     string // the policy file
	policies *policyfile.Live
	client   *http.Client
	node     *actors.Node
	undo     []func() error // for close, which does the last first
}

func newProgram(ctx context.Context, addr string) (*program, error) {
	p := &program{stock: newStock()}
	if err := p.start(ctx, addr); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// start starts everything, in the order in which one needs the other.
func (p *program) start(ctx context.Context, addr string) error {
	p.backend = httptest.NewServer(p.stock)
	p.later(func() error { p.backend.Close(); return nil })
	if err := p.measure(); err != nil {
		return err
	}
	if err := p.serve(ctx, addr); err != nil {
		return err
	}
	if err := p.follow(ctx); err != nil {
		return err
	}
	if err := p.connect(); err != nil {
		return err
	}
	return p.stockShelves(ctx)
}

// later has f done at the end.
func (p *program) later(f func() error) { p.undo = append(p.undo, f) }

// close ends everything.
func (p *program) close() error {
	var all error
	for _, f := range slices.Backward(p.undo) {
		all = errors.Join(all, f())
	}
	return all
}

// follow writes the policies to a file of the program's own, which the day is
// going to change, and follows it.
func (p *program) follow(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "telemetry")
	if err != nil {
		return err
	}
	p.later(func() error { return os.RemoveAll(folder) })
	p.file = filepath.Join(folder, "policies.yaml")
	if err := os.WriteFile(p.file, policies, 0o600); err != nil {
		return err
	}
	p.policies, err = policyfile.Watch(ctx, p.file, policyfile.WithObserver(p.observer),
		policyfile.WithEvery(0), policyfile.WithSignals()) // it is told when to look
	if err != nil {
		return err
	}
	p.later(func() error { p.policies.Close(); return nil })
	return nil
}

// connect makes the client of the stock: the policies around a transport that
// carries the trace, with one observer for both.
func (p *program) connect() error {
	network := &http.Transport{MaxIdleConnsPerHost: 100}
	transport, err := httpmw.NewTransport(p.observer.Transport(network), p.policies.Target("stock"),
		httpmw.WithObserver(p.observer), httpmw.WithStaleCache(httpmw.StaleCache{}))
	if err != nil {
		return err
	}
	p.client = &http.Client{Transport: transport}
	unbind := p.policies.Bind("stock", transport.Pipelines())
	stop := p.observer.Watch(transport.Pipelines())
	p.later(func() error {
		unbind()
		stop()
		network.CloseIdleConnections()
		return transport.Close(context.Background())
	})
	return nil
}
