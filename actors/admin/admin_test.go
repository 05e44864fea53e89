package admin_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/admin"
	"github.com/backstay-go/backstay/actors/inspect"
	"github.com/backstay-go/backstay/actors/memory"
)

type thing struct{}

var (
	Thing = actors.NewType[thing]("thing")
	work  = actors.Declare[time.Duration, bool](Thing, "work")
)

// inBubble runs a test of a node that hosts things, in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, node *actors.Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		node, err := actors.Open(t.Context(), actors.Config{Name: "inn"}, memory.New(memory.WithPartitions(2)),
			actors.Host(Thing, actors.Settings{}, actors.Handle(work, func(ctx context.Context, _ actors.Self[thing], d time.Duration) (bool, error) {
				select {
				case <-time.After(d):
					return true, nil
				case <-ctx.Done():
					return false, ctx.Err()
				}
			})))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = node.Stop(context.Background()) }()
		synctest.Wait()
		test(t, node)
	})
}

func handler(t *testing.T, node *actors.Node, options ...admin.Option) http.Handler {
	t.Helper()
	h, err := admin.New(node, options...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func anybody(*http.Request) bool { return true }

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w
}

// drain asks as the command does.
func drain(h http.Handler) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodPost, "/debug/actors/drain", http.NoBody)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(admin.TokenHeader, get(h, "/inspect").Header().Get(admin.TokenHeader))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// decoded returns an answer as what it should be.
func decoded[T any](t *testing.T, w *httptest.ResponseRecorder, status int) (v T) {
	t.Helper()
	if w.Code != status || w.Header().Get("Content-Type") != "application/json; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestInspectTellsHowTheNodeIs(t *testing.T) {
	inBubble(t, func(t *testing.T, node *actors.Node) {
		h := handler(t, node)
		pending := work.Go(node.Context(t.Context()), Thing.Ref("x"), 20*time.Second)
		time.Sleep(10 * time.Second)
		for _, path := range []string{"/inspect", "/debug/actors/inspect", "/inspect?pretty"} {
			w := get(h, path)
			n := decoded[inspect.Node](t, w, http.StatusOK)
			if n.Name != "inn" || n.Calls != 1 || len(n.Partitions) != 2 || len(n.Members) != 1 || n.Members[0] != "inn" || w.Header().Get(admin.TokenHeader) != "" {
				t.Fatalf("%s: %+v", path, n)
			}
			found := 0
			for _, p := range n.Partitions {
				if p.Phase != inspect.Owning || p.Epoch != 1 || p.Takeover.Assigned.IsZero() {
					t.Errorf("%+v", p)
				}
				for _, r := range p.Running {
					found++
					if r.ID != "x" || r.Method != "work" || r.Attempt != 1 || r.Since != 10*time.Second || p.Methods != 1 || p.Oldest != 10*time.Second {
						t.Errorf("%+v", r)
					}
				}
			}
			if found != 1 {
				t.Errorf("%d methods run", found)
			}
		}
		if _, err := pending.Await(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHealthIsAboutReadiness(t *testing.T) {
	inBubble(t, func(t *testing.T, node *actors.Node) {
		h := handler(t, node)
		if got := decoded[admin.Health](t, get(h, "/health"), http.StatusOK); !got.Ready || got.Problems != nil {
			t.Errorf("%+v", got)
		}
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := decoded[admin.Health](t, get(h, "/health"), http.StatusServiceUnavailable); got.Ready || len(got.Problems) != 1 || got.Problems[0] != actors.ErrStopped.Error() {
			t.Errorf("%+v", got)
		}
	})
}

func TestDrainWaitsForWhatRunsAndBeginsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, node *actors.Node) {
		h := handler(t, node, admin.WithDrain(anybody))
		pending := work.Go(node.Context(t.Context()), Thing.Ref("x"), 10*time.Second)
		time.Sleep(time.Second)
		start := time.Now()
		var all sync.WaitGroup
		for range 3 { // all wait for the same
			all.Go(func() {
				if got := decoded[admin.Drained](t, drain(h), http.StatusOK); !got.Drained {
					t.Errorf("%+v", got)
				}
				if took := time.Since(start); took != 9*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		}
		time.Sleep(time.Second)
		if w := get(h, "/health"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("while it drains it is %s", w.Body)
		}
		all.Wait()
		_, _ = pending.Await(t.Context())
		if got := decoded[admin.Drained](t, drain(h), http.StatusOK); !got.Drained {
			t.Errorf("once more: %+v", got)
		}
	})
}

func TestDrainCutsShortWhatTakesTooLong(t *testing.T) {
	inBubble(t, func(t *testing.T, node *actors.Node) {
		h := handler(t, node, admin.WithDrain(anybody), admin.WithDrainTimeout(3*time.Second))
		work.Go(node.Context(t.Context()), Thing.Ref("x"), time.Minute)
		time.Sleep(time.Second)
		start := time.Now()
		got := decoded[admin.Drained](t, drain(h), http.StatusInternalServerError)
		if took := time.Since(start); took != 3*time.Second || got.Drained || !strings.Contains(strings.Join(got.Problems, " "), "stopping before all methods have returned") {
			t.Errorf("after %v: %+v", took, got)
		}
	})
}

// Who asked may leave: the methods that run are not cut short by that.
func TestDrainGoesOnWithoutWhoAsked(t *testing.T) {
	inBubble(t, func(t *testing.T, node *actors.Node) {
		h := handler(t, node, admin.WithDrain(anybody))
		token := get(h, "/inspect").Header().Get(admin.TokenHeader)
		gone, leave := context.WithCancel(t.Context())
		leave()
		req := httptest.NewRequestWithContext(gone, http.MethodPost, "/drain", http.NoBody)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(admin.TokenHeader, token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if got := decoded[admin.Drained](t, w, http.StatusOK); !got.Drained {
			t.Errorf("%+v", got)
		}
	})
}

func TestNobodyDrainsWithoutPermission(t *testing.T) {
	inBubble(t, func(t *testing.T, node *actors.Node) {
		open := handler(t, node, admin.WithDrain(anybody))
		token := get(open, "/inspect").Header().Get(admin.TokenHeader)
		if token == "" {
			t.Fatal("who may drain gets no token")
		}
		post := func(h http.Handler, change func(*http.Request)) *httptest.ResponseRecorder {
			req := httptest.NewRequest(http.MethodPost, "/drain", http.NoBody)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set(admin.TokenHeader, token)
			change(req)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			return w
		}
		set := func(name, value string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set(name, value) }
		}
		nothing := func(*http.Request) {}
		for name, x := range map[string]struct {
			h      http.Handler
			change func(*http.Request)
			status int
			says   string
		}{
			"it is off":           {handler(t, node), nothing, 403, "draining is off; see admin.WithDrain"},
			"not permitted":       {handler(t, node, admin.WithDrain(func(*http.Request) bool { return false })), nothing, 403, "you may watch"},
			"read":                {open, func(r *http.Request) { r.Method = http.MethodGet }, 405, "only POST"},
			"from another site":   {open, set("Sec-Fetch-Site", "cross-site"), 403, "another site"},
			"from a form":         {open, set("Content-Type", "text/plain"), 415, "only application/json"},
			"without a token":     {open, set(admin.TokenHeader, ""), 403, "the one of the answer to inspect"},
			"of another process":  {handler(t, node, admin.WithDrain(anybody)), nothing, 403, "of another process"},
			"what is not there":   {open, func(r *http.Request) { r.Method, r.URL.Path = http.MethodGet, "/nothing" }, 404, "inspect, health and drain"},
			"a post that is none": {open, func(r *http.Request) { r.URL.Path = "/inspect" }, 405, "only GET"},
		} {
			if w := post(x.h, x.change); w.Code != x.status || !strings.Contains(w.Body.String(), x.says) {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
		if err := node.Health(); err != nil {
			t.Errorf("it was drained: %v", err)
		}
	})
}

func TestFaultsOfTheOptionsAreTold(t *testing.T) {
	if _, err := admin.New(nil); err == nil {
		t.Error("there is no node, and nobody says so")
	}
	inBubble(t, func(t *testing.T, node *actors.Node) {
		for _, d := range []time.Duration{0, -1} {
			if h, err := admin.New(node, admin.WithDrainTimeout(d)); h != nil || err == nil || !strings.Contains(err.Error(), "admin.drain_timeout") {
				t.Errorf("%v: %v", d, err)
			}
		}
	})
}
