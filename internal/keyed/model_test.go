package keyed_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
	"pgregory.net/rapid"
)

// model is a plain map that is told of every creation and eviction.
type model struct {
	t     *rapid.T
	c     keyed.Config
	m     *keyed.Map[*counted]
	now   backstay.Instant
	have  map[string]*counted
	used  map[string]backstay.Instant
	built int
}

func newModel(t *rapid.T) *model {
	// Time may count from anywhere; where stamps wrap around is of interest.
	base := rapid.SampledFrom([]backstay.Instant{second, backstay.Now(), 1<<61 - 10*second, 1 << 62}).Draw(t, "base")
	w := &model{t: t, now: base, have: map[string]*counted{}, used: map[string]backstay.Instant{}}
	w.c = keyed.Config{
		MaxKeys:   rapid.IntRange(1, 40).Draw(t, "max keys"),
		IdleAfter: time.Duration(rapid.IntRange(1, 20).Draw(t, "idle seconds")) * time.Second,
	}
	w.m = keyed.New(w.c, w.create, keyed.Hooks[*counted]{
		Busy:    func(v *counted) bool { return v.hot },
		Evicted: w.evicted,
	})
	return w
}

func (w *model) create(key string) *counted {
	if w.have[key] != nil {
		w.t.Fatalf("%q is built a second time", key)
	}
	w.built++
	v := &counted{key: key, nth: w.built}
	w.have[key] = v
	return v
}

func (w *model) evicted(key string, v *counted) {
	unused := w.now.Sub(w.used[key])
	switch {
	case w.have[key] != v:
		w.t.Fatalf("evicted %q, which was not there", key)
	case v.hot:
		w.t.Fatalf("evicted %q, which is busy", key)
	case unused < w.c.IdleAfter && len(w.have) <= w.c.MaxKeys:
		w.t.Fatalf("evicted %q below the bound, unused for %v only", key, unused)
	}
	delete(w.have, key)
}

func (w *model) get(t *rapid.T) {
	key := strconv.Itoa(rapid.IntRange(0, 60).Draw(t, "key"))
	was := w.have[key]
	limit := w.limit(was == nil)
	v := w.m.Get(key, w.now)
	w.used[key] = w.now
	if v.key != key || was != nil && v != was || w.have[key] != v {
		t.Fatalf("%q has %v, want %v", key, v, w.have[key])
	}
	if len(w.have) > limit {
		t.Fatalf("%d keys, want at most %d", len(w.have), limit)
	}
	v.hot = rapid.IntRange(0, 3).Draw(t, "heat") == 0
}

// limit is how many keys there may be after the next Get: at the bound a new
// one takes the place of another, unless all others are busy.
func (w *model) limit(creates bool) int {
	n := len(w.have)
	if !creates || n < w.c.MaxKeys {
		return n + 1
	}
	for _, v := range w.have {
		if !v.hot {
			return n
		}
	}
	return n + 1
}

func (w *model) delete(t *rapid.T) {
	key := strconv.Itoa(rapid.IntRange(0, 60).Draw(t, "key"))
	if v, ok := w.m.Delete(key); ok != (w.have[key] != nil) || v != w.have[key] {
		t.Fatalf("deleted %v, want %v", v, w.have[key])
	}
	delete(w.have, key)
}

func (w *model) check(t *rapid.T) {
	if w.m.Len() != len(w.have) {
		t.Fatalf("Len is %d, want %d", w.m.Len(), len(w.have))
	}
	told := 0
	for k, v := range w.m.Range {
		told++
		if w.have[k] != v {
			t.Fatalf("Range tells %q: %v, want %v", k, v, w.have[k])
		}
	}
	for k, v := range w.have {
		if got, ok := w.m.Peek(k); !ok || got != v {
			t.Fatalf("Peek of %q is %v, want %v", k, got, v)
		}
	}
	if told != len(w.have) {
		t.Fatalf("Range told %d keys of %d", told, len(w.have))
	}
}

func TestTheMapBehavesLikeAPlainOneThatForgetsByItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"get":    w.get,
			"get it": w.get,
			"delete": w.delete,
			"cool down": func(*rapid.T) {
				for _, v := range w.have {
					v.hot = false
				}
			},
			"time passes": func(t *rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
			},
			"": w.check,
		})
	})
}
