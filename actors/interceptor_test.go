package actors_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors"
)

var errDenied = actors.RegisterError("thing.denied", errors.New("not for you"))

// intercepted opens a node whose things can do and ask, behind interceptors.
func intercepted(c *cluster, d *diary, all ...actors.Interceptor) (context.Context, actors.Method[string, none, thing], actors.Query[none, none, thing]) {
	v := actors.NewValue[int](Thing, "v")
	do := actors.Declare[string, none](Thing, "do")
	ask := actors.DeclareQuery[none, none](Thing, "ask")
	node := c.open(actors.Config{Interceptors: all}, actors.Host(Thing, actors.Settings{},
		actors.Handle(do, func(ctx context.Context, self self, how string) (none, error) {
			n, err := v.Get(ctx, self)
			if err != nil {
				return none{}, err
			}
			d.write("do")
			if how == "fail" {
				return none{}, errors.Join(v.Set(self, n+1), errEmpty)
			}
			if n != 0 {
				return none{}, errors.New("a step that failed was recorded")
			}
			return none{}, nil
		}),
		actors.HandleShared(ask, func(context.Context, actors.View[thing], none) (none, error) { d.write("ask"); return none{}, nil }),
	))
	return c.on(node), do, ask
}

func TestInterceptorsRunRoundMethodsAndQueriesTheFirstOutermost(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		noting := func(name string) actors.Interceptor {
			return func(ctx context.Context, in actors.Invocation, next func(context.Context) error) error {
				d.write(name + " before " + in.Method)
				if in.Type != "thing" || in.ID != "x" || in.Attempt != 1 || in.RequestID == "" || in.Query != (in.Method == "ask") {
					t.Errorf("it sees %+v", in)
				}
				err := next(ctx)
				d.write(name + " after " + in.Method)
				return err
			}
		}
		ctx, do, ask := intercepted(c, &d, noting("outer"), noting("inner"))
		_, err := do.Call(ctx, Thing.Ref("x"), "")
		c.ok(err)
		_, err = ask.Call(ctx, Thing.Ref("x"), none{})
		c.ok(err)
		want := []string{
			"outer before do", "inner before do", "do", "inner after do", "outer after do",
			"outer before ask", "inner before ask", "ask", "inner after ask", "outer after ask",
		}
		if got := d.all(); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

func TestAnInterceptorCanRefuse(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		ctx, do, ask := intercepted(c, &d, func(ctx context.Context, _ actors.Invocation, next func(context.Context) error) error {
			if actors.BaggageFrom(ctx)["user"] != "root" {
				return errDenied
			}
			return next(ctx)
		})
		_, err := do.Call(ctx, Thing.Ref("x"), "")
		c.is(err, errDenied)
		_, err = ask.Call(ctx, Thing.Ref("x"), none{})
		c.is(err, errDenied)
		_, err = do.Call(actors.WithBaggage(ctx, "user", "root"), Thing.Ref("x"), "")
		c.ok(err)
		if got := d.all(); !slices.Equal(got, []string{"do"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestAnInterceptorsFaultsDoNotBecomeSteps(t *testing.T) {
	inBubble(t, func(c *cluster) {
		var d diary
		how := ""
		ctx, do, _ := intercepted(c, &d, func(ctx context.Context, _ actors.Invocation, next func(context.Context) error) error {
			switch how {
			case "swallows":
				_ = next(ctx)
				return nil
			case "twice":
				_ = next(ctx)
				return next(ctx)
			case "never":
				return nil
			default:
				return next(ctx)
			}
		})
		how = "swallows"
		_, err := do.Call(ctx, Thing.Ref("x"), "fail")
		c.is(err, errEmpty)
		for how = range map[string]none{"twice": {}, "never": {}} {
			if _, err := do.Call(ctx, Thing.Ref("x"), ""); err == nil || !strings.Contains(err.Error(), "interceptor") {
				t.Errorf("%s: %v", how, err)
			}
		}
		how = ""
		_, err = do.Call(ctx, Thing.Ref("x"), "")
		c.ok(err)
	})
}
