package httpmw

import (
	"context"
	"fmt"
	"net/http"

	"github.com/backstay-go/backstay"
)

// keyOf returns the key of the pipeline that req goes through. Where the
// function of [WithKey] panics, that is told, and the host serves.
func (t *Transport) keyOf(req *http.Request) string {
	if t.key == nil {
		return req.URL.Host
	}
	return t.askKey(req)
}

func (t *Transport) askKey(req *http.Request) (key string) {
	defer func() {
		if v := recover(); v != nil {
			t.panicked(req.Context(), "the function of WithKey", v)
			key = req.URL.Host
		}
	}()
	return t.key(req)
}

// overrule asks the function of [WithClassifier] for its judgement. Where that
// panics, it is told, and o stands. Where it exits the goroutine, resp reaches
// nobody who would close it.
func (t *Transport) overrule(resp *http.Response, err error, o backstay.Outcome) (judged backstay.Outcome) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			t.panicked(context.Background(), "the function of WithClassifier", v)
			judged = o
		} else if !returned {
			t.drain(resp)
		}
	}()
	judged = t.classify(resp, err, o)
	returned = true
	return judged
}

// panicked tells of a callback that panicked.
func (t *Transport) panicked(ctx context.Context, who string, v any) {
	t.pipelines.Scope().Emit(ctx, backstay.Event{
		Kind: backstay.CallbackPanicked, Err: fmt.Errorf("httpmw: %s panicked: %v", who, v),
	})
}
