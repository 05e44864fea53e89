package middleware_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/middleware"
)

// versions is a set of one target, in one version after another.
type versions struct {
	current atomic.Pointer[middleware.Target]
	delay   func() // of the next Match, after it has looked
}

func (s *versions) put(limit int64) {
	t := only(middleware.Config{Bulkhead: &bulkhead.Config{Limit: limit}})
	s.current.Store(&t)
}

func (s *versions) Match(middleware.Request) *middleware.Target {
	t := s.current.Load()
	if wait := s.delay; wait != nil {
		s.delay = nil
		wait()
	}
	return t
}

func (s *versions) All(f func(*middleware.Target) bool) { f(s.current.Load()) }

// built is what a protocol builds.
type built struct{ registry *middleware.Registry }

func (b built) Pipelines() *middleware.Registry { return b.registry }

func build(t middleware.Target) (built, error) {
	r, err := middleware.NewRegistry(t)
	return built{r}, err
}

// Whoever comes late with an old version does not bring it back.
func TestAnOldVersionOfATargetDoesNotComeBack(t *testing.T) {
	set := new(versions)
	set.put(1)
	routes, err := middleware.NewRoutes(set, build)
	if err != nil {
		t.Fatal(err)
	}
	limit := func() int64 {
		b, err := routes.Find(middleware.Request{})
		if err != nil {
			t.Fatal(err)
		}
		return b.registry.Get("a", backstay.Now()).Bulkhead().Limit()
	}
	set.put(2)
	set.delay = func() { // somebody else finds the third version meanwhile
		set.put(3)
		if got := limit(); got != 3 {
			t.Errorf("a limit of %d, want 3", got)
		}
	}
	if got := limit(); got != 3 {
		t.Errorf("a limit of %d came back", got)
	}
}

func TestRoutesGoForwardOnly(t *testing.T) {
	set := new(versions)
	set.put(1)
	routes, err := middleware.NewRoutes(set, build)
	if err != nil {
		t.Fatal(err)
	}
	const last = 500
	var newest atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for newest.Load() < last {
				least := newest.Load()
				b, err := routes.Find(middleware.Request{})
				if err != nil {
					t.Error(err)
					return
				}
				if got := b.registry.Get("a", backstay.Now()).Bulkhead().Limit(); got < least {
					t.Error("a limit of " + strconv.FormatInt(got, 10) + " came after one of " + strconv.FormatInt(least, 10))
					return
				}
			}
		})
	}
	for i := int64(2); i <= last; i++ {
		set.put(i)
		if _, err := routes.Find(middleware.Request{}); err != nil {
			t.Error(err)
		}
		newest.Store(i)
	}
	wg.Wait()
}
