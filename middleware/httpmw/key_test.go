package httpmw_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/hedge"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/httpmw/httpmwtest"
)

// keying returns a target with retries and the keys of c.
func keying(c idempotency.Config) middleware.Target {
	t := retries()
	t.Idempotency = &c
	return t
}

func TestAKeyIsMadeOnceAndIsTheSameOnEveryAttempt(t *testing.T) {
	backend := httpmwtest.Script(httpmwtest.Reset())
	tr := transport(t, backend, keying(idempotency.Config{Generate: true}))
	var keys []string
	for range 2 {
		ctx, report := backstay.WithReport(t.Context())
		req := request(t, ctx, http.MethodPost, "http://x.test/", strings.NewReader("25 EUR"))
		if _, err := tr.RoundTrip(req); err == nil {
			t.Fatal("an answer")
		}
		if len(req.Header) != 0 {
			t.Errorf("the caller's headers became %v", req.Header)
		}
		keys = append(keys, `"`+report.Summary().Key+`"`)
	}
	got := told(backend.Requests(), "Idempotency-Key")
	if want := []string{keys[0], keys[0], keys[0], keys[1], keys[1], keys[1]}; !slices.Equal(got, want) || keys[0] == keys[1] || len(keys[0]) != 38 {
		t.Errorf("sent %q, the reports say %q", got, keys)
	}
}

func TestHedgedCopiesCarryTheSameKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := hedged(hedge.Config{Delay: time.Millisecond})
		target.Idempotency = &idempotency.Config{Generate: true}
		backend := httpmwtest.Script(httpmwtest.BlackHole(), httpmwtest.Status(200))
		req := request(t, hedge.Mark(t.Context()), http.MethodPost, "http://x.test/", strings.NewReader("25 EUR"))
		if _, err := transport(t, backend, target).RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		if got := told(backend.Requests(), "Idempotency-Key"); len(got) != 2 || got[0] != got[1] || got[0] == "" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestWhichKeyARequestCarries(t *testing.T) {
	generate := idempotency.Config{Generate: true}
	key := func(ctx context.Context) context.Context { return idempotency.WithKey(ctx, "from-context") }
	for _, c := range []struct {
		name   string
		method string
		config *idempotency.Config
		ctx    func(context.Context) context.Context
		header []string
		want   []string // nil: none; "?": one that was made
		report string
	}{
		{"nothing asks for one", http.MethodPost, nil, nil, nil, nil, ""},
		{"the policy makes none", http.MethodPost, &idempotency.Config{}, nil, nil, nil, ""},
		{"the policy makes one", http.MethodPost, &generate, nil, nil, []string{"?"}, "?"},
		{"the policy makes one for PATCH", http.MethodPatch, &generate, nil, nil, []string{"?"}, "?"},
		{"GET needs none", http.MethodGet, &generate, nil, nil, nil, ""},
		{"PUT needs none", http.MethodPut, &generate, nil, nil, nil, ""},
		{"the context's", http.MethodPost, nil, key, nil, []string{`"from-context"`}, "from-context"},
		{"the context's goes before a new one", http.MethodPost, &generate, key, nil, []string{`"from-context"`}, "from-context"},
		{"the context's on a GET", http.MethodGet, nil, key, nil, []string{`"from-context"`}, "from-context"},
		{"the header's", http.MethodPost, nil, nil, []string{`"mine"`}, []string{`"mine"`}, "mine"},
		{"the header's as it is written", http.MethodPost, &generate, nil, []string{"mine"}, []string{"mine"}, "mine"},
		{"the header's goes before the context's", http.MethodPost, &generate, key, []string{"mine"}, []string{"mine"}, "mine"},
		{"a header that is no key is the caller's business", http.MethodPost, &generate, nil, []string{"a", "b"}, []string{"a", "b"}, ""},
	} {
		backend := httpmwtest.Script()
		target := retries()
		target.Idempotency = c.config
		ctx, report := backstay.WithReport(t.Context())
		if c.ctx != nil {
			ctx = c.ctx(ctx)
		}
		req := request(t, ctx, c.method, "http://x.test/", nil)
		if c.header != nil {
			req.Header["Idempotency-Key"] = slices.Clone(c.header)
		}
		if _, err := transport(t, backend, target).RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		got := backend.Requests()[0].Header["Idempotency-Key"]
		made := len(c.want) == 1 && c.want[0] == "?"
		if key := report.Summary().Key; made && (len(key) != 36 || !slices.Equal(got, []string{`"` + key + `"`})) ||
			!made && (key != c.report || !slices.Equal(got, c.want)) {
			t.Errorf("%s: sent %q, the report says %q", c.name, got, key)
		}
		if !slices.Equal(req.Header["Idempotency-Key"], c.header) {
			t.Errorf("%s: the caller's header became %q", c.name, req.Header)
		}
	}
}

func TestAKeyIsWrittenAsTheTargetWantsIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		config idempotency.Config
		header string
		want   string
	}{
		{"quoted", idempotency.Config{}, "Idempotency-Key", `"k 1"`},
		{"bare, which a space forbids", idempotency.Config{Bare: true}, "Idempotency-Key", `"k 1"`},
		{"another header", idempotency.Config{Header: "x-request-key"}, "X-Request-Key", `"k 1"`},
	} {
		backend := httpmwtest.Script()
		ctx := idempotency.WithKey(t.Context(), "k 1")
		if _, err := get(t, ctx, transport(t, backend, keying(c.config))); err != nil {
			t.Fatal(err)
		}
		if got := backend.Requests()[0].Header; len(got) != 1 || got.Get(c.header) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	backend := httpmwtest.Script()
	ctx := idempotency.WithKey(t.Context(), "k1")
	if _, err := get(t, ctx, transport(t, backend, keying(idempotency.Config{Bare: true}))); err != nil {
		t.Fatal(err)
	}
	if got := told(backend.Requests(), "Idempotency-Key"); got[0] != "k1" {
		t.Errorf("bare: %q", got)
	}
}

func TestAContextsKeyThatCannotBeSentIsRefused(t *testing.T) {
	for _, key := range []string{"two\nlines", "ключ", strings.Repeat("k", 256)} {
		backend := httpmwtest.Script()
		body := &counted{Reader: http.NoBody}
		req := request(t, idempotency.WithKey(t.Context(), key), http.MethodPost, "http://x.test/", body)
		_, err := transport(t, backend, keying(idempotency.Config{Generate: true})).RoundTrip(req)
		if !errors.Is(err, idempotency.ErrKeyInvalid) || backstay.Classify(err).Class != backstay.Permanent {
			t.Errorf("%.20q: %v", key, err)
		}
		if body.closed.Load() != 1 {
			t.Errorf("%.20q: the body was closed %d times", key, body.closed.Load())
		}
		backend.Want(t, 0)
	}
}
