package keyed_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/internal/keyed"
)

func TestHoweverManyAskForANewKeyItIsBuiltOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var built atomic.Int32
		m := keyed.New(keyed.Config{}, func(string) *int {
			time.Sleep(time.Second) // all of them come while it is being built
			v := int(built.Add(1))
			return &v
		}, keyed.Hooks[*int]{})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if v := m.Get("a", backstay.Now()); *v != 1 {
					t.Errorf("got value number %d", *v)
				}
			})
		}
		wg.Wait()
		if built.Load() != 1 || m.Len() != 1 {
			t.Errorf("built %d times, %d keys", built.Load(), m.Len())
		}
	})
}

func TestAKeyBeingBuiltHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := keyed.New(keyed.Config{MaxKeys: 2}, func(key string) string { // one shard
			if key == "slow" {
				time.Sleep(time.Hour)
			}
			return key
		}, keyed.Hooks[string]{})
		var wg sync.WaitGroup
		wg.Go(func() { m.Get("slow", second) })
		synctest.Wait()
		began := time.Now()
		m.Get("quick", second)
		if d := time.Since(began); d != 0 {
			t.Errorf("waited %v", d)
		}
		if _, ok := m.Peek("slow"); ok {
			t.Error("found a value that is not built yet")
		}
		wg.Wait()
	})
}

func TestABuildThatDoesNotReturnLeavesTheKeyToTheNext(t *testing.T) {
	for name, fail := range map[string]func(){
		"panic":  func() { panic("no luck") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				m := keyed.New(keyed.Config{}, func(string) int {
					tries++
					if tries == 1 {
						time.Sleep(time.Second)
						fail()
					}
					return tries
				}, keyed.Hooks[int]{})
				var recovered any
				go func() {
					defer func() { recovered = recover() }()
					m.Get("a", second)
				}()
				synctest.Wait()
				if v := m.Get("a", second); v != 2 {
					t.Errorf("who waited got %d", v)
				}
				synctest.Wait()
				if want := name == "panic"; (recovered != nil) != want {
					t.Errorf("the builder's caller recovered %v", recovered)
				}
				if m.Len() != 1 {
					t.Errorf("%d keys", m.Len())
				}
			})
		})
	}
}

func TestABuildMayAskForOtherKeys(t *testing.T) {
	var m *keyed.Map[int]
	m = keyed.New(keyed.Config{MaxKeys: 100}, func(key string) int {
		if key == "" {
			return 0
		}
		return 1 + m.Get(key[1:], second)
	}, keyed.Hooks[int]{})
	if v := m.Get("12345", second); v != 5 {
		t.Errorf("got %d", v)
	}
	if m.Len() != 6 {
		t.Errorf("%d keys", m.Len())
	}
}

func TestAKeyDoesNotKeepTheTextItWasCutFrom(t *testing.T) {
	text := strings.Repeat("x", 1<<16) + "host"
	var got string
	m := keyed.New(keyed.Config{}, func(key string) int { got = key; return 0 }, keyed.Hooks[int]{})
	cut := text[1<<16:]
	m.Get(cut, second)
	for k := range m.Range {
		if k != cut || unsafe.StringData(k) == unsafe.StringData(cut) {
			t.Error("the key is a piece of the caller's text")
		}
		if unsafe.StringData(k) != unsafe.StringData(got) {
			t.Error("the value's key is a second copy")
		}
	}
}
