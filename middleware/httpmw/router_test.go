package httpmw_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw"
	"github.com/backstay-go/backstay/retry"
)

// targets is a set that a test changes. Its targets match their names as hosts.
type targets struct {
	all atomic.Pointer[map[string]*middleware.Target]
}

func (s *targets) set(all ...middleware.Target) *targets {
	byName := make(map[string]*middleware.Target)
	for _, t := range all {
		byName[t.Name] = &t
	}
	s.all.Store(&byName)
	return s
}

func (s *targets) Match(q middleware.Request) *middleware.Target { return (*s.all.Load())[q.Host] }

func (s *targets) All(f func(*middleware.Target) bool) {
	for _, t := range *s.all.Load() {
		if !f(t) {
			return
		}
	}
}

// attempting is a target that makes n attempts, or a POST as well.
func attempting(name string, n int, idempotent bool) middleware.Target {
	t := middleware.Standard(name)
	t.Retry = &retry.Config{MaxAttempts: n, Base: retry.NoWait, Budget: retry.BudgetConfig{Off: true}}
	t.Breaker = nil
	t.Idempotent = idempotent
	return t
}

// failing counts the requests that reach it.
type failing struct{ sent atomic.Int64 }

func (f *failing) RoundTrip(req *http.Request) (*http.Response, error) {
	f.sent.Add(1)
	return &http.Response{StatusCode: 503, Body: http.NoBody, Request: req}, nil
}

// attempts says how many requests one call makes.
func attempts(t *testing.T, r http.RoundTripper, f *failing, method, url string) int64 {
	t.Helper()
	before := f.sent.Load()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return f.sent.Load() - before
}

func TestARouterSendsThroughTheTargetThatMatches(t *testing.T) {
	base, set := new(failing), new(targets).set(attempting("two", 2, false), attempting("four", 4, false))
	r := must(httpmw.NewRouter(base, set))
	for url, want := range map[string]int64{"http://two/": 2, "http://four/": 4, "http://elsewhere/": 3} {
		if n := attempts(t, r, base, "GET", url); n != want {
			t.Errorf("%s: %d requests, want %d", url, n, want)
		}
	}
	names := 0
	for name, transport := range r.All {
		names++
		if name != transport.Pipelines().Scope().Policy {
			t.Errorf("%s has the transport of %s", name, transport.Pipelines().Scope().Policy)
		}
	}
	if names != 3 {
		t.Errorf("%d transports", names)
	}
}

func TestARouterFollowsItsTargets(t *testing.T) {
	base, set := new(failing), new(targets).set(attempting("a", 2, false))
	r := must(httpmw.NewRouter(base, set))
	a := transportOf(t, r, "a")
	set.set(attempting("a", 3, false), attempting("b", 4, false))
	if n := attempts(t, r, base, "GET", "http://a/"); n != 3 {
		t.Errorf("%d requests after a change, want 3", n)
	}
	if transportOf(t, r, "a") != a {
		t.Error("the transport was made anew")
	}
	if n := attempts(t, r, base, "GET", "http://b/"); n != 4 {
		t.Errorf("%d requests to a target that came later, want 4", n)
	}
	set.set(attempting("b", 4, true))
	if n := attempts(t, r, base, "POST", "http://b/"); n != 4 {
		t.Errorf("%d POST requests once the target is idempotent, want 4", n)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := r.RoundTrip(asking(t, "http://a/")); !errors.Is(err, middleware.ErrClosed) {
		t.Errorf("a closed router: %v", err)
	}
}

func TestAllFaultsOfARoutersTargetsAreTold(t *testing.T) {
	set := new(targets).set(attempting("a", -7, false), attempting("b", -8, false))
	_, err := httpmw.NewRouter(nil, set)
	if err == nil || !strings.Contains(err.Error(), "middleware.a.retry.max_attempts: -7") || !strings.Contains(err.Error(), "middleware.b.retry.max_attempts: -8") {
		t.Errorf("got %v", err)
	}
}

func TestATargetThatCannotBeBuiltLaterIsRefused(t *testing.T) {
	base, set := new(failing), new(targets).set(attempting("a", 2, false))
	var seen []backstay.Event
	r := must(httpmw.NewRouter(base, set, httpmw.WithObserver(backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
		if e.Kind == middleware.PolicyNotApplied {
			seen = append(seen, e)
		}
	}))))
	set.set(attempting("a", -1, false), attempting("b", -1, false))
	if n := attempts(t, r, base, "GET", "http://a/"); n != 2 {
		t.Errorf("%d requests by the last good version, want 2", n)
	}
	attempts(t, r, base, "GET", "http://a/")
	if len(seen) != 1 || seen[0].Policy != "a" || seen[0].Err == nil {
		t.Errorf("told %+v, want it once", seen)
	}
	body := &unread{}
	req := asking(t, "http://b/")
	req.Method, req.Body = "POST", body
	if _, err := r.RoundTrip(req); !errors.Is(err, backstay.ErrRejected) || body.closed != 1 {
		t.Errorf("%v; the body was closed %d times", err, body.closed)
	}
}

func TestMalformedRequestsReachTheBaseOfARouter(t *testing.T) {
	base := new(failing)
	r := must(httpmw.NewRouter(base, new(targets).set()))
	if resp, err := r.RoundTrip(&http.Request{}); err != nil || resp.StatusCode != 503 {
		t.Errorf("%v, %v", resp, err)
	}
}

type unread struct{ closed int }

func (*unread) Read([]byte) (int, error) { return 0, errors.New("nobody should read") }

func (c *unread) Close() error { c.closed++; return nil }

func transportOf(t *testing.T, r *httpmw.Router, name string) *httpmw.Transport {
	t.Helper()
	for known, transport := range r.All {
		if known == name {
			return transport
		}
	}
	t.Fatalf("there is no transport %s", name)
	return nil
}

func asking(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestTheRegistriesOfARouterAreThoseThatThereAreNow(t *testing.T) {
	set := new(targets).set(attempting("a", 1, false))
	router, err := httpmw.NewRouter(&failing{}, set)
	if err != nil {
		t.Fatal(err)
	}
	set.set(attempting("a", 1, false), attempting("late", 1, false))
	attempts(t, router, &failing{}, http.MethodGet, "http://late/")
	got := maps.Collect(router.Registries)
	for name, transport := range router.All {
		if got[name] != transport.Pipelines() {
			t.Errorf("%s is another one", name)
		}
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"a", "late", middleware.Unmatched}) {
		t.Errorf("got %q", names)
	}
}
