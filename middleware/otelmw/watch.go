package otelmw

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"

	"github.com/backstay-go/backstay/middleware"
)

// Source is where gauges read: a [middleware.Registry], single pipelines through
// [Of], all of a router through [All], or a server, a httpmw.Handler or
// grpcmw.Server.
type Source interface {
	Statuses() []middleware.Status
}

// Of makes a [Source] of single pipelines.
func Of(pipelines ...*middleware.Pipeline) Source { return single(pipelines) }

type single []*middleware.Pipeline

// Statuses returns the state of every pipeline.
func (all single) Statuses() []middleware.Status {
	statuses := make([]middleware.Status, len(all))
	for i, p := range all {
		statuses[i] = p.Status()
	}
	return statuses
}

// All makes a [Source] of registries that come and go, such as those of a
// router; it is asked anew whenever metrics are collected:
//
//	stop := observer.Watch(otelmw.All(router.Registries))
func All(registries iter.Seq2[string, *middleware.Registry]) Source { return many(registries) }

type many iter.Seq2[string, *middleware.Registry]

// Statuses returns the state of every pipeline of every registry.
func (all many) Statuses() (statuses []middleware.Status) {
	for _, r := range all {
		statuses = append(statuses, r.Statuses()...)
	}
	return statuses
}

// Watch has the gauges tell the state of the pipelines in sources whenever
// metrics are collected, until stop is called or the Observer closed. Stop them
// when the pipelines are closed, or they live as long as the Observer does.
func (o *Observer) Watch(sources ...Source) (stop func()) { return o.watched.add(sources) }

// Close ends the gauges; the error is the meter provider's. Events are counted
// as before. Close may be called again.
func (o *Observer) Close() error { return o.reading.Unregister() }

// watched are sources that gauges read.
type watched[S any] struct {
	mu sync.Mutex // held by writers
	// all is copied by writers: the reader is called under locks of the SDK,
	// where it must not wait for us.
	all atomic.Pointer[[]*watch[S]]
}

// watch is a source in use: a pointer to it tells it from others.
type watch[S any] struct{ source S }

// each reads every source. The SDK reads on goroutines of its own, where a panic
// would end the process; and where an error is returned, it exports no metric at
// all. So the program's error handler is told.
func (w *watched[S]) each(read func(S)) {
	for _, one := range w.now() {
		func() {
			defer func() {
				if v := recover(); v != nil {
					otel.Handle(fmt.Errorf("otelmw: a source of gauges panicked: %v", v))
				}
			}()
			read(one.source)
		}()
	}
}

func (w *watched[S]) now() []*watch[S] {
	if all := w.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (w *watched[S]) add(sources []S) (stop func()) {
	mine := make([]*watch[S], len(sources))
	for i, s := range sources {
		mine[i] = &watch[S]{s}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Concat(w.now(), mine)
	w.all.Store(&all)
	return func() { w.remove(mine) }
}

func (w *watched[S]) remove(these []*watch[S]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(w.now()), func(s *watch[S]) bool { return slices.Contains(these, s) })
	w.all.Store(&left)
}
