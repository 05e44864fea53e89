package actorstest

import (
	"testing"
	"testing/synctest"

	"github.com/backstay-go/backstay/actors/internal/simtest"
)

func TestTheSimulatedLogKeepsItsPromises(t *testing.T) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := simtest.New(simtest.Options{Seed: 1, Partitions: 8})
				defer c.Close()
				p.keep(newRig(t, c.Log("process", 0)))
			})
		})
	}
}
