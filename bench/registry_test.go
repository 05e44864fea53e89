package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/cep21/circuit/v4"
	"github.com/sony/gobreaker/v2"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// hosts is how many keys a full registry has.
const hosts = 10_000

// directory gives out one instance of something for each key.
type directory struct {
	name string
	// find returns whether there is an instance of key, which it makes if
	// there is none.
	find func(key string) bool
	// call makes a call through the instance of key that find made.
	call func(key string, f backend) error
	size func() int
}

// BenchmarkRegistry compares one instance for each of many hosts: how long the
// right one is looked for, how much memory a host takes whose calls all went
// well, and what is kept after ten times as many hosts were seen. A pipeline
// of Backstay's has a budget, a breaker and a bulkhead; the others have a
// breaker, and never forget a host.
func BenchmarkRegistry(b *testing.B) {
	keys := keysOf(hosts)
	makers := []func() directory{backstayRegistry, gobreakerMap, cep21Manager}
	for _, open := range makers {
		b.Run("lookup/"+open().name, func(b *testing.B) { measureLookup(b, open(), keys) })
	}
	for _, open := range makers {
		b.Run("idle-key/"+open().name, func(b *testing.B) { measureMemory(b, open, keys) })
	}
	for _, open := range makers {
		b.Run("flood/"+open().name, func(b *testing.B) { measureFlood(b, open()) })
	}
}

func keysOf(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("host-%06d.backend.test", i)
	}
	return keys
}

func measureLookup(b *testing.B, d directory, keys []string) {
	b.Helper()
	fill(d, keys)
	i := 0
	for b.Loop() {
		if i++; i == len(keys) {
			i = 0
		}
		if !d.find(keys[i]) {
			b.Fatal("nothing found")
		}
	}
}

func fill(d directory, keys []string) {
	for _, k := range keys {
		d.find(k)
	}
}

// measureMemory reports the heap of a full directory whose every host was
// called, without the names of the hosts.
func measureMemory(b *testing.B, open func() directory, keys []string) {
	b.Helper()
	f := succeeding()
	var perKey float64
	for b.Loop() {
		before := heap()
		d := open()
		fill(d, keys)
		for _, k := range keys {
			if err := d.call(k, f); err != nil {
				b.Fatal(err)
			}
		}
		perKey = float64(heap()-before) / float64(len(keys))
		if d.size() != len(keys) {
			b.Fatalf("%d keys", d.size())
		}
	}
	b.ReportMetric(perKey, "B/key")
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // the first one may leave what was freed while it ran
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// measureFlood reports how many of ten times too many keys are kept.
func measureFlood(b *testing.B, d directory) {
	b.Helper()
	keys := keysOf(10 * hosts)
	for b.Loop() {
		fill(d, keys)
	}
	b.ReportMetric(float64(d.size()), "keys")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/key")
}

func backstayRegistry() directory {
	r := must(middleware.NewRegistry(backstayTarget(true)))
	return directory{
		name: "backstay",
		find: func(key string) bool { return r.Get(key, backstay.Now()) != nil },
		call: func(key string, f backend) error {
			p := r.Get(key, backstay.Now())
			_, err := middleware.Do(context.Background(), p, func(context.Context) (int, error) { return f() })
			return err
		},
		size: r.Len,
	}
}

// gobreakerMap is what programs write around gobreaker.
func gobreakerMap() directory {
	var all sync.Map
	get := func(key string) *gobreaker.CircuitBreaker[int] {
		cb, ok := all.Load(key)
		if !ok {
			cb, _ = all.LoadOrStore(key, gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Name: key}))
		}
		return cb.(*gobreaker.CircuitBreaker[int])
	}
	return directory{
		name: "gobreaker",
		find: func(key string) bool { return get(key) != nil },
		call: func(key string, f backend) error {
			_, err := get(key).Execute(f)
			return err
		},
		size: func() (n int) {
			all.Range(func(any, any) bool { n++; return true })
			return n
		},
	}
}

func cep21Manager() directory {
	m := new(circuit.Manager)
	return directory{
		name: "cep21-circuit",
		find: func(key string) bool {
			if m.GetCircuit(key) != nil {
				return true
			}
			_, err := m.CreateCircuit(key)
			return err == nil
		},
		call: func(key string, f backend) error {
			return m.GetCircuit(key).Run(context.Background(), func(context.Context) error {
				_, err := f()
				return err
			})
		},
		size: func() int { return len(m.AllCircuits()) },
	}
}
