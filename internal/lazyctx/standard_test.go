package lazyctx_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/internal/lazyctx"
)

func TestAStandardContextEndsAtTheNearestLimit(t *testing.T) {
	for name, limits := range map[string][2]time.Duration{
		"the attempt's": {time.Hour, time.Second},
		"the total":     {time.Second, time.Hour},
		"both":          {time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				total := lazyctx.NewOuter(t.Context(), in(limits[0]))
				defer total.Cancel()
				attempt := lazyctx.New(total, in(limits[1]))
				defer attempt.Cancel()
				standard, end := lazyctx.Standard(attempt)
				defer end()
				child, cancel := context.WithCancel(standard)
				defer cancel()
				<-child.Done()
				if child.Err() != context.DeadlineExceeded || time.Since(began) != time.Second {
					t.Errorf("%v after %v", child.Err(), time.Since(began))
				}
				if total.Expired() != (limits[0] == time.Second) || attempt.Expired() == total.Expired() {
					t.Errorf("expired: total %v, attempt %v", total.Expired(), attempt.Expired())
				}
			})
		})
	}
}

func TestAStandardContextEndsWithTheRoot(t *testing.T) {
	why := errors.New("user pressed stop")
	for name, lifted := range map[string]bool{"within the limit": false, "the limit was lifted": true} {
		t.Run(name, func(t *testing.T) {
			type key struct{}
			root, stop := context.WithCancelCause(context.WithValue(t.Context(), key{}, "kept"))
			c := lazyctx.New(root, in(time.Hour))
			defer c.Cancel()
			if lifted && !c.Lift() {
				t.Fatal("the limit has not passed")
			}
			standard, end := lazyctx.Standard(c)
			defer end()
			if _, bounded := standard.Deadline(); bounded == lifted || standard.Value(key{}) != "kept" || standard.Err() != nil {
				t.Errorf("bounded %v, value %v, error %v", bounded, standard.Value(key{}), standard.Err())
			}
			stop(why)
			<-standard.Done()
			if standard.Err() != context.Canceled || context.Cause(standard) != why {
				t.Errorf("%v, because of %v", standard.Err(), context.Cause(standard))
			}
		})
	}
}

func TestAnothersContextIsStandardAsItIs(t *testing.T) {
	standard, end := lazyctx.Standard(t.Context())
	end()
	if standard != t.Context() || standard.Err() != nil {
		t.Error("it was changed, or ended")
	}
}
