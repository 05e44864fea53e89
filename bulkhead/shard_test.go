package bulkhead_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
)

func TestShardsOfATenantAreTheSameForever(t *testing.T) {
	for _, c := range []struct {
		tenant       string
		shards, size int
		want         []int
	}{
		{"", 8, 2, []int{6, 0}},
		{"acme", 8, 2, []int{6, 5}},
		{"acme", 100, 5, []int{6, 52, 5, 84, 41}},
		{"globex", 100, 5, []int{63, 55, 46, 29, 49}},
		{"acme", 3, 9, []int{2, 1, 0}},
	} {
		if got := bulkhead.Shard(c.tenant, c.shards, c.size); !slices.Equal(got, c.want) {
			t.Errorf("Shard(%q, %d, %d) = %#v, want %v", c.tenant, c.shards, c.size, got, c.want)
		}
	}
}

func TestNoShardsOfNothing(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, 0}, {-1, -1}} {
		if got := bulkhead.Shard("acme", c[0], c[1]); got != nil {
			t.Errorf("%v: %v", c, got)
		}
	}
}

func TestTwoTenantsRarelyShareTheirShards(t *testing.T) {
	const shards, size, tenants, pairs = 100, 5, 2000, 200_000
	all := make([][]int, tenants)
	load := make([]int, shards)
	for i := range all {
		all[i] = bulkhead.Shard(fmt.Sprintf("tenant-%d", i), shards, size)
		for _, s := range all[i] {
			load[s]++
		}
	}
	var shared [size + 1]float64
	for n := range pairs {
		i, j := n%tenants, (n%tenants+1+n/tenants)%tenants
		common := 0
		for _, s := range all[i] {
			if slices.Contains(all[j], s) {
				common++
			}
		}
		shared[common]++
	}
	for common, got := range shared {
		want := choose(size, common) * choose(shards-size, size-common) / choose(shards, size)
		if got /= pairs; math.Abs(got-want) > 0.01 {
			t.Errorf("%d shards in common: %.4f of all pairs, want %.4f", common, got, want)
		}
	}
	for s, n := range load { // 100 expected, 5 standard deviations
		if n < 50 || n > 150 {
			t.Errorf("shard %d has %d tenants of %d", s, n, tenants*size/shards)
		}
	}
}

// choose is the binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}

func TestAnotherShardTakesAtMostOneFromATenant(t *testing.T) {
	moved := 0
	for i := range 1000 {
		tenant := fmt.Sprintf("tenant-%d", i)
		before, after := bulkhead.Shard(tenant, 20, 4), bulkhead.Shard(tenant, 21, 4)
		lost := 0
		for _, s := range before {
			if !slices.Contains(after, s) {
				lost++
			}
		}
		if moved += lost; lost > 1 || (lost == 1) != slices.Contains(after, 20) {
			t.Errorf("%s went from %v to %v", tenant, before, after)
		}
	}
	if moved < 140 || moved > 240 {
		t.Errorf("%d of 4000 places moved, want about 190", moved)
	}
}

func TestATenantThatFillsItsShardsLeavesTheOthersAlone(t *testing.T) {
	set := must(bulkhead.NewSharded(bulkhead.Config{Limit: 10}, 32, 4))
	noisy := 0
	for set.For("noisy") != nil {
		if _, ok := set.For("noisy").TryAcquire(t.Context(), 1); !ok {
			break
		}
		noisy++
	}
	if noisy != 40 {
		t.Errorf("the noisy tenant got %d permits, want its 4 shards of 10", noisy)
	}
	for i := range 100 {
		tenant := fmt.Sprintf("tenant-%d", i)
		permit, ok := set.For(tenant).TryAcquire(t.Context(), 1)
		if !ok {
			t.Errorf("%s is kept out", tenant)
		}
		permit.Release(backstay.Outcome{})
	}
}

func TestForPrefersTheSameShardOfAnIdleSet(t *testing.T) {
	set := must(bulkhead.NewSharded(bulkhead.Config{}, 100, 12))
	first := set.For("acme")
	if first != set.For("acme") {
		t.Error("two choices")
	}
	permit := acquire(t, first)
	if second := set.For("acme"); second == first {
		t.Error("the fuller one was chosen")
	}
	permit.Release(backstay.Outcome{})
}

func TestShardsAreNamedByTheirNumber(t *testing.T) {
	names := map[string]bool{}
	set := must(bulkhead.NewSharded(bulkhead.Config{Limit: 1}, 2, 1, bulkhead.WithScope(&backstay.Scope{Policy: "api", Key: "eu"})))
	for i := range 20 {
		b := set.For(fmt.Sprintf("tenant-%d", i))
		if _, err := b.Acquire(t.Context(), 2); err != nil {
			names[wantFull(t, err).Name] = true
		}
	}
	if len(names) != 2 || !names["api[eu#0]"] || !names["api[eu#1]"] {
		t.Errorf("named %v", names)
	}
}

func TestNewShardedNamesEveryFault(t *testing.T) {
	_, err := bulkhead.NewSharded(bulkhead.Config{MaxQueue: -1}, 4, 5)
	if got := paths(err); !slices.Equal(got, []string{"bulkhead.size", "bulkhead.max_queue"}) {
		t.Errorf("faults at %q", got)
	}
	_, err = bulkhead.NewSharded(bulkhead.Config{}, 0, 0)
	if got := paths(err); !slices.Equal(got, []string{"bulkhead.shards", "bulkhead.size"}) {
		t.Errorf("faults at %q", got)
	}
	var none *bulkhead.Sharded
	if none.For("acme") != nil {
		t.Error("a nil set has bulkheads")
	}
}
