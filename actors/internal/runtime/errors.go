package runtime

import "errors"

var (
	// ErrOver says that the method has returned, failed, or lost its partition; its
	// attempt can no longer do anything (A16).
	ErrOver = errors.New("runtime: the attempt is over")
	// ErrBusy says that a callback runs on the actor, so the attempt that waits below it
	// must not change the actor's state now. It happens to methods that start
	// goroutines and do not wait for them.
	ErrBusy = errors.New("runtime: another invocation is on the actor")
	// ErrStopped says that the node was stopped.
	ErrStopped = errors.New("runtime: the node is stopped")
	// ErrLost is the cause with which the contexts of attempts end when the
	// partition is lost.
	ErrLost = errors.New("runtime: the partition was lost")
	// ErrDepth says that calls nest deeper than the type's Depth.
	ErrDepth = errors.New("runtime: calls nest too deep")
	// ErrTooLarge says that what is to be sent is larger than Config.MaxRecord.
	ErrTooLarge = errors.New("runtime: too large")
	// ErrPeriod says that a reminder's period is neither a positive duration nor
	// a line of package cron.
	ErrPeriod = errors.New("runtime: the period is not a positive duration")
)
