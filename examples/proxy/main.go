// Proxy is a reverse proxy of the standard library between two parts of
// Backstay: a Handler above it, which takes up deadlines and sheds load, and a
// Transport below it, with a pipeline for each backend. Event streams and
// WebSockets pass. A backend that gets slow is left out once its breaker is
// open, and taken back when a probe finds it quick again.
//
//	go run ./examples/proxy
//
// The proxy itself is proxy.go; the rest is there to show it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
)

func main() {
	if err := tell(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

// stage is where the scenes play.
type stage struct {
	one, two *backend
	url      string // of the proxy
	network  *http.Transport
	out      io.Writer
}

// tell plays the scenes.
func tell(ctx context.Context, out io.Writer) (err error) {
	s := &stage{one: start("one"), two: start("two"), network: new(http.Transport), out: out}
	defer s.one.server.Close()
	defer s.two.server.Close()
	defer s.network.CloseIdleConnections()
	handler, transport, err := newProxy(s.network, []string{s.one.host(), s.two.host()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, transport.Close(ctx)) }()
	proxy := httptest.NewServer(handler)
	defer proxy.Close()
	s.url = proxy.URL
	for _, scene := range []func(context.Context) error{s.stream, s.socket, s.eject} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}
