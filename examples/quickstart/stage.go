package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// stage is where the scenes play: the services, the way to them, and the
// audience.
type stage struct {
	payments, menu *service

	network    *http.Transport // what all clients send through at last
	transports []*httpmw.Transport
	out        io.Writer
}

func newStage(out io.Writer) *stage {
	return &stage{
		payments: start("paid"),
		menu:     start("soup, fish, cake"),
		network:  &http.Transport{MaxIdleConnsPerHost: 100},
		out:      out,
	}
}

// close waits for everything that the stage has started.
func (s *stage) close(ctx context.Context) error {
	var all []error
	for _, t := range s.transports {
		all = append(all, t.Close(ctx))
	}
	s.network.CloseIdleConnections()
	s.payments.server.Close()
	s.menu.server.Close()
	return errors.Join(all...)
}

// say tells the audience a line.
func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// client returns an http.Client whose calls go through the policies of target.
func (s *stage) client(target middleware.Target, options ...httpmw.Option) (*http.Client, error) {
	transport, err := httpmw.NewTransport(s.network, target, options...)
	if err != nil {
		return nil, err
	}
	s.transports = append(s.transports, transport)
	return &http.Client{Transport: transport}, nil
}

// get makes one call. It returns the answer, and the report of what the call
// went through, which tells something even where there is no answer.
func get(ctx context.Context, client *http.Client, url string) (answer string, report *backstay.Report, err error) {
	ctx, report = backstay.WithReport(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", report, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", report, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(body))), report, err
}
