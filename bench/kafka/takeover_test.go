package kafka

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/inspect"
)

// recovered is what was measured of takeovers on one cluster: one of each past.
type recovered struct {
	title     string
	takeovers []inspect.Takeover
}

// whole is how long a takeover took.
func whole(t inspect.Takeover) time.Duration { return t.Snapshot + t.Replay + t.Fence }

// middle is the takeover that took the median time, as a whole.
func middle(all []inspect.Takeover) inspect.Takeover {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b inspect.Takeover) int { return int(whole(a) - whole(b)) })
	return sorted[len(sorted)/2]
}

// recoveryTable is that of the document.
func recoveryTable(found []recovered, load string) string {
	var t strings.Builder
	fmt.Fprintf(&t, "Medians of %d takeovers; %s/%s, %d processors, which brokers and owners share; load before the run: %s.\n\n",
		*takeovers, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load)
	t.WriteString("| partitions | calls of each before | requests of each that wait or run")
	for _, r := range found {
		t.WriteString(" | " + r.title)
	}
	t.WriteString(" |\n" + strings.Repeat("|--:", 3) + strings.Repeat("|---", len(found)) + "|\n")
	for i, p := range pasts {
		fmt.Fprintf(&t, "| %d | %s | %s", p.partitions, thousands(float64(p.calls**history)), thousands(float64(p.waiting)))
		for _, r := range found {
			t.WriteString(" | " + takeoverCell(r.takeovers[i]))
		}
		t.WriteString(" |\n")
	}
	return t.String()
}

func takeoverCell(t inspect.Takeover) string {
	tenths := func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()*1000) }
	return fmt.Sprintf("**%s ms**: %s + %s + %s, %d records", tenths(whole(t)), tenths(t.Snapshot), tenths(t.Replay), tenths(t.Fence), t.Records)
}

// report tells the benchmark's own output.
func (r *recovered) report(b *testing.B) {
	b.Helper()
	for i, p := range pasts {
		unit := fmt.Sprintf("%dcalls-%dpartitions-%dwaiting-µs", p.calls**history, p.partitions, p.waiting)
		b.ReportMetric(float64(whole(r.takeovers[i]).Microseconds()), unit)
	}
}

func TestTheTableHasATakeoverOfEachPast(t *testing.T) {
	const ms = time.Millisecond
	took := func(whole time.Duration) inspect.Takeover {
		return inspect.Takeover{Snapshot: whole - 3*ms, Replay: 2 * ms, Fence: ms, Records: 2100}
	}
	r := recovered{title: "kfake"}
	for range pasts {
		r.takeovers = append(r.takeovers, middle([]inspect.Takeover{took(40 * ms), took(10 * ms), took(12 * ms)}))
	}
	const want = "| 4 | 1,000 | 100 | **12.0 ms**: 9.0 + 2.0 + 1.0, 2100 records |\n"
	if got := recoveryTable([]recovered{r}, "0.10"); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}
