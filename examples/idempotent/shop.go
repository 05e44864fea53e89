package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
)

// shop is the bank's client.
type shop struct {
	bank    string
	network *http.Transport
	careful *http.Client // goes through Backstay
	out     io.Writer
}

func newShop(bank string, out io.Writer) (*shop, error) {
	network := &http.Transport{}
	target := middleware.Standard("bank")
	target.Idempotency = &idempotency.Config{Generate: true} // the bank honours keys
	transport, err := httpmw.NewTransport(network, target)
	if err != nil {
		return nil, err
	}
	return &shop{bank: bank, network: network, careful: &http.Client{Transport: transport}, out: out}, nil
}

func (s *shop) close() { s.network.CloseIdleConnections() }

func (s *shop) say(format string, args ...any) { fmt.Fprintf(s.out, "   "+format+"\n", args...) }

// answer is what the bank said.
type answer struct {
	status   string
	body     []byte
	replayed bool
	report   *backstay.Report
}

// String tells the answer in one line.
func (a answer) String() string {
	text := fmt.Sprintf("%s %s", a.status, bytes.TrimSpace(a.body))
	if a.replayed {
		text += " (replayed)"
	}
	return text
}

// charge asks the bank for the amount.
func (s *shop) charge(ctx context.Context, client *http.Client, amount int) (answer, error) {
	ctx, report := backstay.WithReport(ctx)
	body := strings.NewReader(fmt.Sprintf(`{"amount": %d}`, amount))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.bank+route, body)
	if err != nil {
		return answer{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{
		status: resp.Status, body: text, report: report,
		replayed: resp.Header.Get("Idempotent-Replayed") == "true",
	}, err
}
