// Package idempotency_test runs the store on Redis against a real redis-server.
package idempotency_test

import (
	"context"
	"os"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/e2e/internal/service"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestMain(m *testing.M) {
	logging.Disable() // it reports every connection that a killed server refuses
	if addr := os.Getenv(workerAddr); addr != "" {
		work(addr)
		return
	}
	os.Exit(m.Run())
}

// connect returns a client as the documentation recommends it.
func connect(tb testing.TB, addr string) *goredis.Client {
	client := newClient(addr)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func newClient(addr string) *goredis.Client {
	return goredis.NewClient(&goredis.Options{
		Addr: addr, ContextTimeoutEnabled: true, DialerRetries: 1, MaxRetries: 1,
	})
}

// open returns a store with a client of its own, as a process has it.
func open(tb testing.TB, addr string, c redis.Config, options ...redis.Option) *redis.Store {
	tb.Helper()
	return over(tb, connect(tb, addr), c, options...)
}

func over(tb testing.TB, client redis.Client, c redis.Config, options ...redis.Option) *redis.Store {
	tb.Helper()
	store, err := redis.New(c, client, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// guardOver returns a guard over a store.
func guardOver(tb testing.TB, s idempotency.Store, c idempotency.GuardConfig, options ...idempotency.Option) *idempotency.Guard {
	tb.Helper()
	guard, err := idempotency.NewGuard(c, s, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return guard
}

// quick is a guard whose leases end while a test waits.
var quick = idempotency.GuardConfig{Lease: time.Second, Poll: 20 * time.Millisecond}

// watched is what one process has: a store and a guard, whose events are seen.
type watched struct {
	testkit.Recorder
	store *redis.Store
	guard *idempotency.Guard
}

func watch(tb testing.TB, server *service.Redis, c redis.Config, g idempotency.GuardConfig) *watched {
	tb.Helper()
	w := new(watched)
	scope := &backstay.Scope{Policy: "payments", Observer: w}
	w.store = open(tb, server.Addr, c, redis.WithScope(scope))
	w.guard = guardOver(tb, w.store, g, idempotency.WithScope(scope))
	return w
}

// kinds are the kinds of the events so far, each once.
func (w *watched) kinds() map[backstay.Kind]bool {
	all := map[backstay.Kind]bool{}
	for _, e := range w.Take() {
		all[e.Kind] = true
	}
	return all
}

// request asks with a key for what body stands for.
func request(key, body string) idempotency.Request {
	return idempotency.Request{Key: key, Fingerprint: idempotency.FingerprintOf(body)}
}

// answering is work that is done at once.
func answering(data string) func(context.Context) (idempotency.Answer, error) {
	return func(context.Context) (idempotency.Answer, error) {
		return idempotency.Answer{Data: []byte(data)}, nil
	}
}

// never is work that must not be done.
func never(t *testing.T) func(context.Context) (idempotency.Answer, error) {
	return func(context.Context) (idempotency.Answer, error) {
		t.Error("the work ran")
		return idempotency.Answer{}, nil
	}
}

// owner makes a new owner of key.
func owner(key string) idempotency.Claim {
	return idempotency.Claim{Key: key, Owner: idempotency.Token([]byte(idempotency.NewKey()[:16]))}
}

// within wants f to return within d, and not hang.
func within(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > d {
		t.Errorf("it took %v, want at most %v", took, d)
	}
}
