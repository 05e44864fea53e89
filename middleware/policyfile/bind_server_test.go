package policyfile_test

import (
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
)

func serverOf(t *testing.T, live *policyfile.Live) *middleware.Entrance {
	t.Helper()
	e, err := middleware.NewEntrance(live.Server(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAServerFollowsItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "server: {bulkhead: {adaptive: off, limit: 5}}")
		e := serverOf(t, f.live)
		f.change("server: {bulkhead: {adaptive: off, limit: 6}}") // before anybody is bound
		cancel := f.live.BindServer(e)
		if n := e.Now().Bulkhead().Limit(); n != 6 {
			t.Errorf("the limit is %d", n)
		}
		if _, err := e.Now().Bulkhead().Acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		f.told()
		f.change("server: {bulkhead: {adaptive: off, limit: 6}, timeout: 2s}")
		if now := e.Now(); !now.LeavesHandlers() || now.Bulkhead().InFlight() != 1 {
			t.Errorf("the change is not in force, or state is lost: %d in flight", now.Bulkhead().InFlight())
		}
		f.change("# a comment\nserver: {bulkhead: {adaptive: off, limit: 6}, timeout: 2s}")
		f.change("server: {timeout: 2}")
		f.change("targets: {pay: on}") // the section is gone
		if !e.Now().LeavesHandlers() {
			t.Error("a section that goes changes something")
		}
		want := "policies loaded file; policy changed server; policies loaded file; policies refused file; " +
			"policies loaded file; policy added pay; policy removed server"
		if got := f.told(); got != want {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
		cancel()
		f.change("server: {bulkhead: {adaptive: off, limit: 9}}")
		if n := e.Now().Bulkhead().Limit(); n != 6 {
			t.Errorf("a limit of %d is applied after cancel", n)
		}
	})
}

func TestAServerThatCannotBeAppliedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "server: {name: orders}")
		e := serverOf(t, f.live)
		defer f.live.BindServer(e)()
		was := e.Now()
		f.change("server: {name: stock}")
		f.change("server: {name: orders, idempotency: on}")
		want := "policies loaded file; policy changed stock; policy not applied stock; " +
			"policies loaded file; policy changed orders; policy not applied orders"
		if got := f.told(); got != want || e.Now() != was {
			t.Errorf("told\n%s, want\n%s", got, want)
		}
	})
}

func TestWhoSubscribesToTheServerGetsWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		var got []string
		now, cancel := f.live.SubscribeServer(func(s middleware.Server) { got = append(got, s.Name); panic("never mind") })
		defer cancel()
		if now.Name != "server" {
			t.Errorf("without a section it is %q", now.Name)
		}
		f.change("server: {name: a}")
		f.change("server: {name: a}\ntargets: {pay: on}")
		f.change("server: {name: b}")
		if len(got) != 2 || got[0] != "a" || got[1] != "b" {
			t.Errorf("got %q", got)
		}
	})
}
