package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// scraped are the lines of a scrape that are samples of ours.
type scraped []string

// scrape reads /metrics, as Prometheus does.
func (p *program) scrape(ctx context.Context) (scraped, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metricsURL(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("/metrics answers %s", resp.Status)
	}
	var found scraped
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "backstay_") {
			found = append(found, lines.Text())
		}
	}
	return found, lines.Err()
}

// print shows what is worth reading, without the names that all have.
func (s scraped) print(out io.Writer) {
	for _, line := range s {
		series, value, _ := strings.Cut(line, "} ")
		if strings.Contains(series, "_bucket{") || value == "0" {
			continue
		}
		name, labels, _ := strings.Cut(series, "{")
		var told []string
		for label := range strings.SplitSeq(labels, ",") {
			if label = strings.TrimPrefix(label, "backstay_"); !strings.HasPrefix(label, "key=") && !strings.HasPrefix(label, "policy=") {
				told = append(told, label)
			}
		}
		fmt.Fprintf(out, "  %-42s %-52s %s\n", name, strings.Join(told, " "), value)
	}
}
