package main

import (
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/retry"
)

// The types of actors; the Go types stand for them.
type (
	manager  struct{}
	order    struct{}
	schedule struct{}
	voyage   struct{}
	depot    struct{}
)

// What everybody needs to call them.
var (
	Manager  = actors.NewType[manager]("manager")
	Order    = actors.NewType[order]("order")
	Schedule = actors.NewType[schedule]("schedule")
	Voyage   = actors.NewType[voyage]("voyage")
	Depot    = actors.NewType[depot]("depot")

	theManager  = Manager.Ref("main")
	theSchedule = Schedule.Ref("main")
)

// patient are the settings of all actors here: a kill counts as an attempt, and
// there are more of them in a second than elsewhere in a year.
var patient = actors.Settings{Retry: retry.Config{MaxAttempts: 100}}

// none is what methods take and return that need nothing.
type none = struct{}

// Booking is an order on its way through the chain.
type Booking struct {
	Order      actors.Ref[order]
	From, To   string
	Containers int
	// Voyage is the one that is tried, Others are tried next.
	Voyage actors.Ref[voyage]
	Others []actors.Ref[voyage]
}

// Receipt is the client's.
type Receipt struct {
	State  State
	Voyage actors.Ref[voyage]
}

// State is that of an order.
type State string

// The states of an order, in their order.
const (
	Placed    State = "placed"
	Rejected  State = "rejected"
	Booked    State = "booked"
	Sailing   State = "sailing"
	Delivered State = "delivered"
)

// Leg is what a voyage sails.
type Leg struct {
	From, To string
	Departs  time.Time
	Days     int
	Capacity int
}

// The world.
var ports = []string{"oakland", "rotterdam", "shanghai"}

const (
	stockOfPort = 300 // containers, at the beginning
	capacity    = 20  // of a ship
	ahead       = 3   // days between the announcement of a voyage and its departure
	atSea       = 2   // days
)
