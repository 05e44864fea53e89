package kafka

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/bench/internal/marked"
	"github.com/backstay-go/backstay/e2e/brokers"
)

var (
	which   = flag.String("clusters", "kfake", "which clusters, with commas: kfake, one, three")
	rounds  = flag.Int("rounds", 1, "how often every operation is timed")
	calls   = flag.Int("calls", 20, "how many calls of an operation a round times")
	warmup  = flag.Int("warmup", 300, "how many calls of every kind come before the first round")
	seconds = flag.Duration("seconds", 100*time.Millisecond, "how long a round measures throughput, for each operation")
	doc     = flag.String("doc", "", "the file that gets the tables; empty prints them")

	history   = flag.Int("history", 100, "how many calls the shortest history has before a takeover")
	takeovers = flag.Int("takeovers", 3, "how many takeovers are timed of each history")
)

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVariable); name != "" {
		os.Exit(play(name))
	}
	os.Exit(m.Run())
}

// clusters are what can be measured, by the name of -clusters.
var clusters = []struct {
	name, title string
	replicas    int16
	start       func(*testing.B) []string
}{
	{"kfake", "kfake", 1, func(b *testing.B) []string { return []string{brokers.StartFakeProcess(b).Addr} }},
	{"one", "Kafka, 1 broker", 1, func(b *testing.B) []string { return brokers.Start(b, brokers.WithFullCompiler()).Addrs() }},
	{"three", "Kafka, 3 brokers", 3, func(b *testing.B) []string {
		return brokers.Start(b, brokers.WithBrokers(3), brokers.WithFullCompiler()).Addrs()
	}},
}

// BenchmarkKafka measures the clusters that it is asked for. It does so once,
// however often it is told to.
func BenchmarkKafka(b *testing.B) {
	var found []result
	before := load()
	inEach(b, marked.Bench, func(b *testing.B, title string, at cluster) {
		b.Helper()
		found = append(found, measure(b, title, at))
	}, func() string { return tables(found, before) })
}

// inEach measures each cluster that is asked for, and writes the text of that
// into its section.
func inEach(b *testing.B, section marked.Section, measure func(b *testing.B, title string, at cluster), text func() string) {
	b.Helper()
	if *doc != "" {
		if err := section.Check(*doc); err != nil {
			b.Fatal(err) // told now, not after minutes of measuring
		}
	}
	measured := false
	for _, c := range clusters {
		if slices.Contains(strings.Split(*which, ","), c.name) {
			measured = b.Run(c.name, func(b *testing.B) { measure(b, c.title, cluster{c.start(b), c.replicas}) })
		}
	}
	if b.Failed() || !measured {
		return
	}
	if *doc == "" {
		fmt.Println(text())
	} else if err := section.Update(*doc, text()); err != nil {
		b.Fatal(err)
	}
}

// measure measures one cluster.
func measure(b *testing.B, title string, at cluster) result {
	b.Helper()
	y := newYardstick(b, at)
	overTopic, directly := newClients(b, at)
	news := newReading(b, at, overTopic)
	ctx, cancel := context.WithTimeout(b.Context(), 15*time.Minute)
	defer cancel()
	operations := [timed]operation{
		kafkaOnly: {"Kafka only", y.call}, recorded: {"recorded", y.recorded}, root: {"root", overTopic.root}, direct: {"direct", directly.root}, read: {"read", overTopic.read},
		hop: {"chain", overTopic.chain}, nested: {"nested", overTopic.nested},
		told: {"told", news.told}, toldExactly: {"told exactly once", news.toldExactly},
	}
	var many []operation
	for _, at := range flooded {
		many = append(many, operations[at])
	}
	for _, o := range many {
		if err := warm(ctx, o, *warmup); err != nil {
			b.Fatal(err)
		}
	}
	times, err := turns(ctx, operations[:], *rounds, *calls)
	if err != nil {
		b.Fatal(err)
	}
	rates, err := floods(ctx, many, *rounds, *seconds)
	if err != nil {
		b.Fatal(err)
	}
	r := summary(title, times, rates)
	r.report(b)
	return r
}
