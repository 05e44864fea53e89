package redis_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
	"github.com/backstay-go/backstay/idempotency/redis"
)

func TestEveryOperationIsOneRoundTripOnOneKey(t *testing.T) {
	lease, retention := int64(30_000), int64(24*3600_000)
	owner := claim.Owner[:]
	payload := idempotency.Fingerprint{2}
	for name, want := range map[string][]any{
		"begin":    {append(payload[:], owner...), lease},
		"renew":    {owner, lease},
		"complete": {owner, retention, []byte("answer")},
		"release":  {owner},
	} {
		t.Run(name, func(t *testing.T) {
			c := answers(int64(1), nil)
			s, seen := open(t, redis.Config{}, c)
			if err := steps[name](t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if len(c.calls) != 1 || !slices.Equal(c.calls[0].keys, []string{"backstay:idem:k"}) ||
				fmt.Sprint(c.calls[0].args) != fmt.Sprint(want) {
				t.Errorf("asked %v, want one key and %v", c.calls, want)
			}
			if events := seen.kinds(); len(events) > 0 {
				t.Errorf("told %v", events)
			}
		})
	}
}

func TestARedisThatDoesNotKnowTheScriptIsTaughtItInTheSameOperation(t *testing.T) {
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			c := answers(int64(1), nil)
			c.known = false
			s, _ := open(t, redis.Config{}, c)
			for range 2 {
				if err := step(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.calls) != 3 || len(c.calls[0].script) != 40 || !strings.Contains(c.calls[1].script, "redis.call") ||
				c.calls[2].script != c.calls[0].script || fmt.Sprint(c.calls[1].args) != fmt.Sprint(c.calls[0].args) {
				t.Errorf("asked %v, want by hash, by text, and by hash", c.calls)
			}
		})
	}
}

func TestWhatErrorsOfRedisMean(t *testing.T) {
	oom := "OOM command not allowed when used memory > 'maxmemory'."
	for name, c := range map[string]struct {
		err   error
		want  error
		class backstay.Class
	}{
		"full":                         {redisError(oom), idempotency.ErrStoreFull, backstay.Rejected},
		"full, before Redis 7":         {redisError("ERR Error running script (call to f_1): @user_script:7: -" + oom), idempotency.ErrStoreFull, backstay.Rejected},
		"another type":                 {redisError("WRONGTYPE Operation against a key"), redis.ErrCorrupt, backstay.Fault},
		"another type, before Redis 7": {redisError("ERR Error running script (call to f_1): @user_script:2: -WRONGTYPE Operation"), redis.ErrCorrupt, backstay.Fault},
		"no right":                     {redisError("NOPERM this user has no permissions"), redis.ErrFailed, backstay.Transient},
		"loading":                      {redisError("LOADING Redis is loading the dataset in memory"), redis.ErrFailed, backstay.Transient},
		"a replica":                    {redisError("READONLY You can't write against a read only replica."), redis.ErrFailed, backstay.Transient},
		"a closed connection":          {io.EOF, redis.ErrFailed, backstay.Transient},
		"a text that only looks so":    {errors.New("dial WRONGTYPE.example: no such host"), redis.ErrFailed, backstay.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			for op, step := range steps {
				s, seen := open(t, redis.Config{}, answers(nil, c.err))
				err := step(t.Context(), s)
				e, ok := errors.AsType[*redis.Error](err)
				if !ok || !errors.Is(err, c.want) || !errors.Is(err, c.err) || e.Op != op || e.Key != "backstay:idem:k" ||
					e.Name != "payments" || e.Outcome().Class != c.class {
					t.Fatalf("%s: %v (%+v), want %v", op, err, e, c.want)
				}
				events := seen.Take()
				if len(events) != 1 || events[0].Kind != idempotency.StoreFailed || events[0].Operation != op ||
					events[0].Err != error(e) || events[0].Policy != "payments" || events[0].Outcome.Class != c.class {
					t.Errorf("%s: told %+v", op, events)
				}
			}
		})
	}
}

func TestAnAnswerThatMakesNoSenseIsAFailure(t *testing.T) {
	for name, step := range steps {
		s, seen := open(t, redis.Config{}, answers("PONG", nil))
		if err := step(t.Context(), s); !errors.Is(err, redis.ErrFailed) || !strings.Contains(err.Error(), "PONG") {
			t.Errorf("%s: %v", name, err)
		}
		if events := seen.kinds(); !slices.Equal(events, []backstay.Kind{idempotency.StoreFailed}) {
			t.Errorf("%s: told %v", name, events)
		}
	}
}

func TestWhatIsSaidOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, redis.Config{}, answers(nil, io.EOF))
		want := `idempotency/redis payments: renew "backstay:idem:k": redis failed: no answer for 0s: EOF (see to redis, and to its settings in the client)`
		if err := steps["renew"](t.Context(), s); err.Error() != want {
			t.Errorf("got  %v\nwant %v", err, want)
		}
	})
}

func TestAnAnswerThatIsTooLargeIsRefusedWithoutAskingRedis(t *testing.T) {
	c := answers(int64(1), nil)
	s, _ := open(t, redis.Config{MaxAnswer: 5}, c)
	if err := steps["complete"](t.Context(), s); !errors.Is(err, idempotency.ErrStoreFull) || len(c.calls) > 0 {
		t.Errorf("got %v after %v", err, c.calls)
	}
	if err := s.Complete(t.Context(), claim, idempotency.Record{Omitted: true, Answer: []byte("ignored")}, time.Hour); err != nil || len(c.calls[0].args) != 2 {
		t.Errorf("a mark: %v after %v", err, c.calls)
	}
}

func TestNoOperationWaitsLongerThanTheTimeout(t *testing.T) {
	for name, step := range steps {
		synctest.Test(t, func(t *testing.T) {
			s, seen := open(t, redis.Config{Timeout: 3 * time.Second}, hangs())
			began := time.Now()
			if err := step(t.Context(), s); !errors.Is(err, redis.ErrFailed) || !strings.Contains(err.Error(), "no answer for 3s") {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(began); took != 3*time.Second {
				t.Errorf("%s: %v", name, took)
			}
			if events := seen.kinds(); !slices.Equal(events, []backstay.Kind{idempotency.StoreFailed}) {
				t.Errorf("%s: told %v", name, events)
			}
		})
	}
}

// What each operation waits for when Redis did not answer the one before.
func TestInDoubtWhoeverCanDoesNotWait(t *testing.T) {
	const full, brief = time.Second, 100 * time.Millisecond
	for name, want := range map[string]map[redis.WhenDown]time.Duration{
		"begin":    {redis.Refuse: brief, redis.LetThrough: brief},
		"release":  {redis.Refuse: brief, redis.LetThrough: brief},
		"complete": {redis.Refuse: full, redis.LetThrough: brief},
		"renew":    {redis.Refuse: full, redis.LetThrough: full},
	} {
		for policy, want := range want {
			synctest.Test(t, func(t *testing.T) {
				c := hangs()
				s, _ := open(t, redis.Config{WhenDown: policy}, c)
				_ = steps["renew"](t.Context(), s)
				began := time.Now()
				_ = steps[name](t.Context(), s)
				if took := time.Since(began); took != want {
					t.Errorf("%s, %s: waited %v, want %v", name, policy, took, want)
				}
				c.answer = after(brief / 2)
				if err := steps[name](t.Context(), s); err != nil {
					t.Errorf("%s, %s: when it answers again: %v", name, policy, err)
				}
				c.answer = after(full / 2)
				if err := steps[name](t.Context(), s); err != nil {
					t.Errorf("%s, %s: when it is slow later: %v", name, policy, err)
				}
			})
		}
	}
}

func TestARedisThatHasBecomeSlowIsFoundAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hangs()
		s, _ := open(t, redis.Config{}, c)
		_ = steps["begin"](t.Context(), s)
		c.answer = after(500 * time.Millisecond) // more than a tenth of the timeout
		began := time.Now()
		for steps["begin"](t.Context(), s) != nil {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
