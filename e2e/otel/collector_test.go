package otel_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metricsgrpc "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracegrpc "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector is what an OpenTelemetry collector is to those who export to it
// over HTTP. It keeps everything.
type collector struct {
	server *httptest.Server

	mu      sync.Mutex
	spans   []*span
	metrics map[string]*metrics.Metric // the latest of each name
	faults  []string
}

// span is one that was exported, and by which service.
type span struct {
	*trace.Span

	service string
}

func newCollector(t *testing.T) *collector {
	c := &collector{metrics: make(map[string]*metrics.Metric)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", take(c, new(tracegrpc.ExportTraceServiceResponse), c.takeSpans))
	mux.HandleFunc("POST /v1/metrics", take(c, new(metricsgrpc.ExportMetricsServiceResponse), c.takeMetrics))
	c.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		c.server.Close()
		for _, fault := range c.faults {
			t.Error(fault)
		}
	})
	return c
}

// take returns a handler that decodes what one signal sends.
func take[Q any, P interface {
	*Q
	proto.Message
}](c *collector, answer proto.Message, keep func(P)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body, err := read(req)
		q := P(new(Q))
		if err == nil {
			err = proto.Unmarshal(body, q)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.faults = append(c.faults, req.URL.Path+": "+err.Error())
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		keep(q)
		out, _ := proto.Marshal(answer)
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(out)
	}
}

func read(req *http.Request) ([]byte, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil || req.Header.Get("Content-Encoding") != "gzip" {
		return body, err
	}
	plain, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}

func (c *collector) takeSpans(q *tracegrpc.ExportTraceServiceRequest) {
	for _, resource := range q.GetResourceSpans() {
		service := text(resource.GetResource().GetAttributes(), "service.name")
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, &span{s, service})
			}
		}
	}
}

func (c *collector) takeMetrics(q *metricsgrpc.ExportMetricsServiceRequest) {
	for _, resource := range q.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				c.metrics[m.GetName()] = m
			}
		}
	}
}

// under returns the spans whose parent has the given ID, "" for none, in the
// order in which they began. There must be n of them.
func (c *collector) under(t *testing.T, parent string, n int) []*span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*span
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetParentSpanId()) == parent {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) })
	if len(found) != n {
		t.Fatalf("%d spans under %q, want %d; all of them:\n%s", len(found), parent, n, c.list())
	}
	return found
}

func (s *span) id() string { return hex.EncodeToString(s.GetSpanId()) }

// attr returns an attribute as text.
func (s *span) attr(name string) string { return text(s.GetAttributes(), name) }

func (c *collector) list() string {
	var b strings.Builder
	for _, s := range c.spans {
		b.WriteString(strings.Join([]string{s.service, s.GetKind().String(), s.GetName(), s.id(), "under", hex.EncodeToString(s.GetParentSpanId())}, " ") + "\n")
	}
	return b.String()
}

// total adds up the points of a counter that have the given attributes, as
// name=value.
func (c *collector) total(name string, with ...string) (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.metrics[name].GetSum().GetDataPoints() {
		if has(p.GetAttributes(), with) {
			n += p.GetAsInt()
		}
	}
	return n
}

// gauge returns the point of a gauge that has the given attributes.
func (c *collector) gauge(name string, with ...string) (float64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.metrics[name].GetGauge().GetDataPoints() {
		if !has(p.GetAttributes(), with) {
			continue
		}
		if i, ok := p.GetValue().(*metrics.NumberDataPoint_AsInt); ok {
			return float64(i.AsInt), true
		}
		return p.GetAsDouble(), true
	}
	return 0, false
}

func has(attrs []*common.KeyValue, with []string) bool {
	return !slices.ContainsFunc(with, func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return text(attrs, name) != value
	})
}

func text(attrs []*common.KeyValue, name string) string {
	for _, kv := range attrs {
		if kv.GetKey() != name {
			continue
		}
		if i, ok := kv.GetValue().GetValue().(*common.AnyValue_IntValue); ok {
			return strconv.FormatInt(i.IntValue, 10)
		}
		return kv.GetValue().GetStringValue()
	}
	return ""
}
