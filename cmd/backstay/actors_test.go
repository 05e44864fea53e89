package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors/admin"
	"github.com/backstay-go/backstay/actors/inspect"
)

// nodeServer answers as the handler of a node does, which may be drained with
// the token "t".
func nodeServer(t *testing.T, n inspect.Node, drained admin.Drained) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/actors/inspect", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(admin.TokenHeader, "t")
		_ = json.NewEncoder(w).Encode(n)
	})
	mux.HandleFunc("POST /debug/actors/drain", func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.Header.Get(admin.TokenHeader) != "t" || req.Header.Get("Content-Type") != "application/json":
			http.Error(w, "no", http.StatusForbidden)
		case !drained.Drained:
			w.WriteHeader(http.StatusInternalServerError)
			fallthrough
		default:
			_ = json.NewEncoder(w).Encode(drained)
		}
	})
	mux.HandleFunc("GET /other/inspect", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// busy is a node with two partitions, of which one could not be claimed.
var busy = inspect.Node{
	Name: "inn", Members: []string{"inn", "out"}, Calls: 1, DeadLetters: 2,
	Partitions: []inspect.Partition{
		{
			Type: "thing", Phase: inspect.Owning, Epoch: 7, Next: 120, Requests: 3, Actors: 2, Deepest: "x", Depth: 2, Oldest: 12345 * time.Millisecond,
			Methods: 3, Outputs: 4,
			Running: []inspect.Invocation{{ID: "x", Method: "count", RequestID: "5f2d", Link: 1, Attempt: 2, Since: 1500 * time.Millisecond, Waiting: []string{"thing/y.inner", "thing/z.inner"}}},
			Takeover: inspect.Takeover{
				Assigned: time.Unix(1, 0), Snapshot: 1234 * time.Microsecond, Replay: 2 * time.Millisecond, Fence: 300 * time.Microsecond, Records: 1,
			},
		},
		{Type: "thing", Index: 1, Phase: inspect.Waiting, Error: "it is out of reach"},
	},
}

func TestANodeIsShownAsATable(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"actors", "inspect", nodeServer(t, busy, admin.Drained{}) + "/debug/actors/"}, &out, &errs); status != well {
		t.Fatalf("status %d: %s", status, &errs)
	}
	want := `inn owns 1 of the 2 partitions that it was assigned.
requests 3, calls that wait for an answer 1, dead letters 2
members inn, out

PARTITION  PHASE    EPOCH  NEXT  REQUESTS  OLDEST  DEEPEST  OUTBOX  TAKEOVER
thing/0    owning   7      120   3         12.3s   x (2)    4       3.5ms: snapshot 1.2ms, replay 2ms of 1 record, fence 300µs
thing/1    waiting  0      0     0         -       -        0       -

thing/1: it is out of reach

RUNNING        REQUEST  LINK  ATTEMPT  FOR   WAITS FOR
thing/x.count  5f2d     1     2        1.5s  thing/y.inner, thing/z.inner
and 2 more
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestANodeWithoutPartitionsIsShownToo(t *testing.T) {
	var out, errs bytes.Buffer
	status := run([]string{"actors", "inspect", nodeServer(t, inspect.Node{Name: "client"}, admin.Drained{}) + "/debug/actors"}, &out, &errs)
	if want := "client owns 0 of the 0 partitions that it was assigned.\nrequests 0, calls that wait for an answer 0, dead letters 0\n"; status != well || out.String() != want {
		t.Errorf("status %d: %q %s", status, &out, &errs)
	}
}

func TestADrainedNodeIsNoneThatHasFailed(t *testing.T) {
	for _, c := range []struct {
		n    inspect.Node
		want string
	}{
		{inspect.Node{Name: "inn", Stopped: true}, "inn is drained: it has handed its partitions over, and takes no more.\n"},
		{inspect.Node{Name: "inn", Stopped: true, Partitions: []inspect.Partition{{Type: "thing", Phase: inspect.Draining}}}, "inn is being drained: it has still to hand 1 partition over.\n"},
	} {
		var out, errs bytes.Buffer
		status := run([]string{"actors", "inspect", nodeServer(t, c.n, admin.Drained{}) + "/debug/actors"}, &out, &errs)
		if status != well || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("status %d: %q %s", status, &out, &errs)
		}
	}
}

func TestActorCommands(t *testing.T) {
	url := nodeServer(t, busy, admin.Drained{Drained: true}) + "/debug/actors/"
	bad := nodeServer(t, busy, admin.Drained{Problems: []string{"thing/x.count runs on"}})
	for _, c := range []struct {
		args      []string
		status    int
		out, errs string // in part; "" is nothing at all
	}{
		{[]string{"actors"}, misuse, "", "actors needs one of inspect, drain"},
		{[]string{"actors", "-h"}, well, "usage: backstay", ""},
		{[]string{"actors", "dance", url}, misuse, "", "actors needs one of inspect, drain"},
		{[]string{"actors", "inspect"}, misuse, "", "wrong number of arguments to actors inspect"},
		{[]string{"actors", "drain", url, url}, misuse, "", "wrong number of arguments to actors drain"},
		{[]string{"actors", "inspect", "-v", url}, misuse, "", "unknown flag -v"},
		{[]string{"actors", "inspect", "-json", url}, well, `{"name":"inn"`, ""},
		{[]string{"actors", "inspect", url, "--json"}, well, `"oldest_ns":12345000000`, ""},
		{[]string{"actors", "inspect", strings.TrimPrefix(url, "http://")}, well, "inn owns", ""},
		{[]string{"actors", "drain", url}, well, "drained: the process may be stopped\n", ""},
		{[]string{"actors", "drain", "-json", url}, well, `{"drained":true}`, ""},
		{[]string{"actors", "drain", bad + "/debug/actors"}, faulty, "", "backstay: drained, but not well:\n\tthing/x.count runs on\n"},
		{[]string{"actors", "inspect", bad}, faulty, "", "/inspect answers 404 Not Found: 404 page not found\n"},
		{[]string{"actors", "inspect", bad + "/other"}, faulty, "", "the answer is not that of a node of actors"},
		{[]string{"actors", "inspect", "http://user:secret@127.0.0.1:1"}, faulty, "", "refused"},
		{[]string{"actors", "drain", "http://%zz"}, faulty, "", "backstay: parse"},
	} {
		var out, errs bytes.Buffer
		status := run(c.args, &out, &errs)
		if status != c.status || !says(out.String(), c.out) || !says(errs.String(), c.errs) {
			t.Errorf("%v: status %d, want %d; said\n%s\nand\n%s", c.args, status, c.status, &out, &errs)
		}
		if strings.Contains(errs.String(), "secret") {
			t.Errorf("%v tells a password: %s", c.args, &errs)
		}
	}
}
