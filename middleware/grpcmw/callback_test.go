package grpcmw_test

import (
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware/grpcmw"
)

func TestACallbackThatPanicsIsToldAndTheDefaultServes(t *testing.T) {
	for name, c := range map[string]struct {
		option grpcmw.Option
		told   int // of a unary call and a stream, each of which is retried once
	}{
		"a key":        {grpcmw.WithKey(func(*grpcmw.Request) string { panic("bug") }), 2},
		"a classifier": {grpcmw.WithClassifier(func(*grpcmw.Reply, error, backstay.Outcome) backstay.Outcome { panic("bug") }), 4},
	} {
		virtual(t, func(t *testing.T) {
			var seen log
			e := failing(1, down)
			cl := client(t, retries(), reads(), c.option, grpcmw.WithObserver(&seen))
			cc := dial(t, e.serve(t), cl)
			if _, err := call(t.Context(), cc, "x"); err != nil {
				t.Errorf("%s: a call: %v", name, err)
			}
			cc = dial(t, lister(nil, down).serve(t), cl)
			cs, err := open(t.Context(), cc, "x")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := receive(cs); err != nil {
				t.Errorf("%s: a stream: %v", name, err)
			}
			told := seen.count(func(e backstay.Event) bool { return e.Kind == backstay.CallbackPanicked })
			if told < c.told || cl.Pipelines().Len() != 1 {
				t.Errorf("%s: told %d times, %d keys", name, told, cl.Pipelines().Len())
			}
		})
	}
}
