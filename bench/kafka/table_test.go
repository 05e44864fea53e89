package kafka

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// The targets of the project, by cluster: none on kfake, whose costs are not
// those of Kafka, but one.
var (
	mostLatency = map[string]map[int]float64{
		"Kafka, 1 broker":  {root: 1.4, direct: 1.1, read: 1.15, hop: .4, nested: 3.3},
		"Kafka, 3 brokers": {root: 1.5, direct: .9, read: 1.15, hop: .5, nested: 3.6},
	}
	leastRate = map[string]map[int]float64{
		"Kafka, 1 broker":  {root: .5, nested: .2},
		"Kafka, 3 brokers": {root: .5, nested: .2},
	}
)

var (
	latencyRows = [timed]string{
		kafkaOnly: "request and response, Kafka only", recorded: "the same by hand, its effect on record before the response", root: "call, state changes", direct: "call, state changes, direct answer", read: "query",
		hop: "hop of a chain of tail calls", nested: "call with a nested call",
		told: "call that publishes, until the message is read", toldExactly: "the same, exactly once",
	}
	rateRows = []struct {
		at    int
		title string
	}{{kafkaOnly, "request and response, Kafka only"}, {recorded, "the same by hand, its effect on record before the response"}, {root, "call, state changes"}, {direct, "call, state changes, direct answer"}, {nested, "call with a nested call"},
		{told, "call that publishes, until the message is read"}, {toldExactly, "the same, exactly once"}}
)

// tables are those of the document. load is what else the machine had to do.
func tables(found []result, load string) string {
	var t strings.Builder
	fmt.Fprintf(&t, "Medians of %d rounds of %d calls, after %d; %s/%s, %d processors, which brokers and clients share; load before the run: %s.\n\n",
		*rounds, *calls, *warmup, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load)
	head(&t, "one call at a time, p50", found)
	for at, title := range latencyRows {
		line(&t, title, found, func(r *result) string { return r.latencyCell(at) })
	}
	t.WriteString("\n")
	head(&t, fmt.Sprintf("calls a second, %d callers", callers), found)
	for _, row := range rateRows {
		line(&t, row.title, found, func(r *result) string { return r.rateCell(row.at) })
	}
	return t.String()
}

// load is how many processes wanted a processor in the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown" // as on any system but Linux
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

func head(t *strings.Builder, title string, found []result) {
	line(t, title, found, func(r *result) string { return r.title })
	t.WriteString(strings.Repeat("|---", len(found)+1) + "|\n")
}

func line(t *strings.Builder, title string, found []result, cell func(*result) string) {
	t.WriteString("| " + title)
	for i := range found {
		t.WriteString(" | " + cell(&found[i]))
	}
	t.WriteString(" |\n")
}

func (r *result) latencyCell(at int) string {
	l := r.latencies[at]
	if at == kafkaOnly {
		return fmt.Sprintf("%s (p99 %s)", ms(l.p50), ms(l.p99))
	}
	text := fmt.Sprintf("**%.2f×** %s (rounds %.2f–%.2f)", l.ratio, ms(l.p50), l.low, l.top)
	if most, ok := mostLatency[r.title][at]; ok {
		text += fmt.Sprintf(", target ≤ %.4g×", most)
	}
	return text
}

func (r *result) rateCell(at int) string {
	rate := r.rates[at]
	if at == kafkaOnly {
		return thousands(rate.second)
	}
	text := fmt.Sprintf("**%.2f×** %s", rate.ratio, thousands(rate.second))
	if least, ok := leastRate[r.title][at]; ok {
		text += fmt.Sprintf(", target ≥ %.4g×", least)
	}
	if r.title == "kfake" && at == root {
		text += ", target ≥ 20,000"
	}
	return text
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

func thousands(n float64) string {
	if n < 1000 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%d,%03d", int(n)/1000, int(n)%1000)
}
