package chaos_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/chaos"
)

func TestWhatFaultsDoToAPlainFunction(t *testing.T) {
	for _, kind := range middleware.FaultKinds() {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			called := 0
			got, err := chaos.Do(ctx, injector(t, always(kind)), chaos.Request{}, func(context.Context) (string, error) {
				called++
				return "hello", nil
			})
			want := map[middleware.FaultKind]string{middleware.FaultLatency: "hello"}[kind]
			calls := map[middleware.FaultKind]int{
				middleware.FaultLatency: 1, middleware.FaultTruncated: 1, middleware.FaultStalled: 1,
			}[kind]
			if got != want || called != calls || (err == nil) != (want != "") {
				t.Errorf("%s: %q, %v, called %d times", kind, got, err, called)
			}
		})
	}
}

func TestAStatusOfAPlainFunctionIsInItsError(t *testing.T) {
	_, err := chaos.Do(t.Context(), injector(t, always(middleware.FaultStatus)), chaos.Request{}, succeeds)
	mark, ok := errors.AsType[*chaos.InjectedError](err)
	if !ok || mark.Status != 503 || err.Error() != `503 Service Unavailable (injected by fault "status")` {
		t.Error(err)
	}
}

func TestAnAnswerThatIsTakenAwayWasNoFailure(t *testing.T) {
	boom := errors.New("boom")
	i, seen := watched(t, always(middleware.FaultTruncated))
	_, err := chaos.Do(t.Context(), i, chaos.Request{}, func(context.Context) (string, error) { return "", boom })
	if err != boom || len(seen.Take()) != 0 { //nolint:errorlint // as it is
		t.Errorf("the backend's own error is lost: %v", err)
	}
	if _, err = chaos.Do(t.Context(), i, chaos.Request{}, succeeds); !errors.Is(err, io.ErrUnexpectedEOF) || len(seen.Take()) != 1 {
		t.Error(err)
	}
}

func TestAStalledAnswerComesWhenTheFaultIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(middleware.FaultStalled)
		f.Until = time.Now().Add(time.Minute)
		took := lasts(func() {
			if got, err := chaos.Do(t.Context(), injector(t, f), chaos.Request{}, succeeds); got != "hello" || err != nil {
				t.Error(got, err)
			}
		})
		if took != time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

func TestALateFaultOfAPlainFunctionIsToldOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := always(middleware.FaultTruncated)
		f.Latency.Mean = time.Second
		i, seen := watched(t, f)
		if _, err := chaos.Do(t.Context(), i, chaos.Request{}, succeeds); !errors.Is(err, io.ErrUnexpectedEOF) || len(seen.Take()) != 1 {
			t.Error(err)
		}
	})
}
