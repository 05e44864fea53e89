package deadline_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/internal/testkit"
)

func TestInjectTellsTheLessOfWhatIsLeftAndTheLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		total time.Duration // of the context; 0: none
		spent time.Duration
		limit time.Duration
		want  string // "": nothing is told
		left  time.Duration
	}{
		{"the whole deadline", 10 * time.Second, 0, 0, "10000", 10 * time.Second},
		{"what is left of it at the moment of sending", 10 * time.Second, 3 * time.Second, 0, "7000", 7 * time.Second},
		{"the timeout of the attempt, where it is shorter", 10 * time.Second, 3 * time.Second, 2 * time.Second, "2000", 2 * time.Second},
		{"what is left, where that is shorter", 10 * time.Second, 9 * time.Second, 2 * time.Second, "1000", time.Second},
		{"the timeout of the attempt, without a deadline", 0, 0, 2 * time.Second, "2000", 2 * time.Second},
		{"nothing, without either", 0, 0, 0, "", 0},
		{"nothing, for a limit that is none", 0, 0, -time.Second, "", 0},
		{"that there is nothing left", 10 * time.Second, 10 * time.Second, 2 * time.Second, "0", 0},
		{"that it is too late", 10 * time.Second, 11 * time.Second, 2 * time.Second, "0", -time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.total > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.total)
					defer cancel()
				}
				time.Sleep(c.spent)
				h := make(http.Header)
				left, ok := deadline.Inject(ctx, h, deadline.BackstayTimeout(), c.limit)
				if got := h.Get("x-backstay-timeout-ms"); got != c.want || left != c.left || ok != (c.want != "") {
					t.Errorf("told %q (%v, %v), want %q", got, left, ok, c.want)
				}
			})
		})
	}
}

func TestInjectReplacesWhatWasThere(t *testing.T) {
	h := http.Header{"X-Backstay-Timeout-Ms": {"99999", "77777"}}
	deadline.Inject(t.Context(), deadline.Header(h), deadline.BackstayTimeout(), time.Second)
	if got := h.Values("X-Backstay-Timeout-Ms"); len(got) != 1 || got[0] != "1000" {
		t.Errorf("told %q", got)
	}
}

func TestInjectAllocatesWhatSettingAHeaderDoes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 123*time.Second)
	defer cancel()
	h := make(http.Header)
	codec := deadline.BackstayTimeout()
	setting := testing.AllocsPerRun(100, func() {
		end, _ := ctx.Deadline()
		h.Set("X-Backstay-Timeout-Ms", strconv.FormatInt(time.Until(end).Milliseconds(), 10))
	})
	testkit.Allocs(t, setting, func() { deadline.Inject(ctx, h, codec, time.Hour) })
	testkit.Allocs(t, setting, func() { deadline.Inject(ctx, deadline.Header(h), codec, time.Hour) })
}

func BenchmarkInject(b *testing.B) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	h := make(http.Header)
	codec := deadline.BackstayTimeout()
	b.ReportAllocs()
	for b.Loop() {
		deadline.Inject(ctx, h, codec, 2*time.Second)
	}
}
