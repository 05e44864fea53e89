package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/hedge"
)

// What the lab adds to the pure decisions is held against the real policies,
// in the same virtual time.

func TestTheFuseIsTheRealBreaker(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			lot := rand.New(rand.NewPCG(seed, 9))
			e := new(engine)
			f, err := newFuse(e, fuseConfig)
			if err != nil {
				t.Fatal(err)
			}
			b, err := breaker.New(breaker.Config{})
			if err != nil {
				t.Fatal(err)
			}
			sick := 0.9
			for step := range 400 {
				d := time.Duration(lot.IntN(700)) * time.Millisecond
				time.Sleep(d)
				e.now += d
				if lot.IntN(40) == 0 {
					sick = 1 - sick
				}
				pass, err := b.Allow(t.Context())
				if admitted := f.admits(); admitted != (err == nil) {
					t.Fatalf("seed %d, step %d at %v: the fuse says %v, the breaker %v", seed, step, e.now, admitted, err)
				}
				if err != nil {
					continue
				}
				ended := f.enter()
				d = time.Duration(lot.IntN(300)) * time.Millisecond
				time.Sleep(d)
				e.now += d
				failed := lot.Float64() < sick
				o := backstay.Outcome{}
				if failed {
					o.Class = backstay.Transient
				}
				pass.Done(t.Context(), o, 0)
				ended(failed)
			}
		})
	}
}

func TestCopiesOfTheLabAreThoseOfTheRealPolicy(t *testing.T) {
	const calls = 4000
	for _, config := range []hedge.Config{{}, {Percentile: 0.9, Budget: free}, {Delay: 12 * time.Millisecond, Budget: free}} {
		synctest.Test(t, func(t *testing.T) {
			p, err := hedge.New(config)
			if err != nil {
				t.Fatal(err)
			}
			lot := rand.New(rand.NewPCG(1, 2))
			var mu sync.Mutex
			sent := 0
			for range calls {
				_, _ = hedge.Do(t.Context(), p, func(ctx context.Context) (int, error) {
					mu.Lock()
					sent++
					d := time.Duration(lot.ExpFloat64() * float64(serviceTime))
					mu.Unlock()
					select {
					case <-time.After(d):
					case <-ctx.Done():
					}
					return 0, ctx.Err()
				})
			}
			synctest.Wait()
			want := float64(sent-calls) / calls
			tolerance := 3 * math.Sqrt(2*want*(1-want)/calls) // two samples, three standard deviations
			if lab := copiesAlone(config, calls); math.Abs(lab-want) > tolerance {
				t.Errorf("%+v: %.4f copies a call, the real policy sends %.4f", config, lab, want)
			}
		})
	}
}

// copiesAlone is how many copies the lab sends for each of so many calls that
// do not queue.
func copiesAlone(config hedge.Config, calls int) float64 {
	p, err := hedge.New(config)
	if err != nil {
		panic(err)
	}
	f := &fleet{lot: rand.New(rand.NewPCG(3, 4)), policy: p}
	f.aim(config)
	sent := 0
	for range calls {
		f.purse.put()
		took := time.Duration(f.lot.ExpFloat64() * float64(serviceTime))
		if delay, ok := f.plan(); ok && took > delay && f.purse.take() {
			sent++
			took = min(took, delay+time.Duration(f.lot.ExpFloat64()*float64(serviceTime)))
		}
		f.recent.add(took)
	}
	return float64(sent) / float64(calls)
}

func TestEventsHappenInTheirOrder(t *testing.T) {
	e, lot := new(engine), rand.New(rand.NewPCG(5, 6))
	var at []time.Duration
	var order []int
	for i := range 500 {
		d := time.Duration(lot.IntN(50))
		e.after(d, func() {
			at = append(at, e.now)
			if e.now != d {
				t.Errorf("planned for %v, happens at %v", d, e.now)
			}
			if d == 25 {
				order = append(order, i)
			}
			if d == 10 {
				e.after(0, func() { at = append(at, e.now) })
			}
		})
	}
	e.run(40)
	if !slices.IsSorted(at) || !slices.IsSorted(order) || at[len(at)-1] > 40 {
		t.Errorf("%v\n%v", at, order)
	}
	e.run(forever)
	if !slices.IsSorted(at) || len(at) < 500 || len(e.heap) != 0 {
		t.Errorf("%d events, %d left", len(at), len(e.heap))
	}
}
