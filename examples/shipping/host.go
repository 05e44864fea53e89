package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/examples/internal/drill"
	"github.com/backstay-go/backstay/middleware/slogmw"
)

// farewell is how long a process may take to hand over what it has.
const farewell = 10 * time.Second

// cluster is how all processes of an application reach one another. One copy of
// everything will do for one broker on a desk.
func (s *settings) cluster() (kafka.Config, error) {
	reach, err := s.reach.Sarama()
	return kafka.Config{App: s.app, Brokers: s.kafka, Sarama: reach, Partitions: 4, Replication: int16(s.copies)}, err //nolint:gosec // Validate looks at it
}

// types are those that need topics.
var types = []string{Manager.Name(), Order.Name(), Schedule.Name(), Voyage.Name(), Depot.Name(), Pulse.Name()}

// join makes the topics, unless they are there, and opens the log.
func (s *settings) join(ctx context.Context, c kafka.Config) (*kafka.Log, error) {
	if err := kafka.Setup(ctx, c, types...); err != nil {
		return nil, err
	}
	return kafka.Open(ctx, c)
}

// serve hosts all actors until it is interrupted, or nobody looks on any more.
func serve(ctx context.Context, s *settings, in io.Reader, out io.Writer) (err error) {
	ctx, end := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer end()
	tell := s.teller(out)
	fuse := &drill.Fuse{Burns: func(at string) { tell.Warn("dies", "point", at) }}
	if s.drill {
		ctx = fuse.Attend(ctx, in)
	}
	c, err := s.cluster()
	if err != nil {
		return err
	}
	c.OnMember = func(e kafka.MemberEvent) {
		tell.Info("member "+e.Kind, "instance", e.Instance, "reason", e.Reason, "error", e.Err)
		fuse.Reach("member " + e.Kind)
	}
	log, err := s.join(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	node, err := actors.Open(ctx, actors.Config{
		Name: s.node, Observer: backstay.Observers(s.observer(tell), fuse), Interceptors: []actors.Interceptor{fuse.Intercept},
	}, fuse.Log(log), hostManager(), hostOrders(), hostSchedule(), hostVoyages(), hostDepots(), hostPulses())
	if err != nil {
		return err
	}
	<-ctx.Done()
	tell.Info("leaves")
	left, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return node.Stop(left)
}

// teller writes lines for people, or in a drill for a program.
func (s *settings) teller(out io.Writer) *slog.Logger {
	if s.drill {
		return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.New(slog.NewTextHandler(out, nil))
}

// observer tells what happens to partitions; steps are too many.
func (s *settings) observer(tell *slog.Logger) backstay.Observer {
	return slogmw.New(tell, slogmw.WithLevel(func(e backstay.Event) slog.Level {
		if e.Kind == backstay.StepDone {
			return slog.LevelDebug - 1
		}
		return slogmw.Level(e)
	}))
}
