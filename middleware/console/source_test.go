package console_test

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

func TestRegistriesThatComeLaterAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := made(t, console.Config{})
		of := func(name string) *middleware.Registry {
			r, err := middleware.NewRegistry(touchy(name), middleware.WithObserver(c.Observer()))
			if err != nil {
				t.Fatal(err)
			}
			r.Get("a", backstay.Now())
			return r
		}
		all := map[string]*middleware.Registry{"pay": of("pay"), "gone": nil}
		if err := c.AddAll("http", maps.All(all)); err != nil {
			t.Fatal(err)
		}
		shown(t, c, touchy("http/late"), "first") // keeps its name
		if c.AddAll("http", maps.All(all)) == nil || c.AddAll("none", nil) == nil {
			t.Error("a name that is taken, or nothing, is added")
		}
		want := func(want ...string) {
			t.Helper()
			time.Sleep(2 * time.Second)
			if got := names(state(t, c, "")); !slices.Equal(got, want) {
				t.Errorf("shows %q, want %q", got, want)
			}
		}
		want("http/late first", "http/pay a")
		all["stock"], all["late"] = of("stock"), of("late")
		_ = call(all["stock"], "a", 0, errDown)
		_ = call(all["stock"], "a", 0, errDown)
		want("http/stock a", "http/late first", "http/pay a")
		if !c.Remove("http") {
			t.Error("it is not removed")
		}
		want("http/late first")
	})
}
