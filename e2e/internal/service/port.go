package service

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
)

// The ports that servers get. They are below those that a kernel gives to
// whoever dials: a client that dials a server which is down could be given its
// very port, would then talk to itself, and keep the server from coming back.
const (
	firstPort = 16_000
	lastPort  = 32_000
)

// FreePorts returns ports of the loopback that nobody listened on just now.
func FreePorts(n int) ([]int, error) {
	free := make(map[int]bool, n)
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", Loopback(port))
		if err != nil {
			continue
		}
		_ = l.Close() // nobody has dialled it
		if free[port] = true; len(free) == n {
			return slices.Collect(maps.Keys(free)), nil
		}
	}
	return nil, fmt.Errorf("no %d free ports between %d and %d", n, firstPort, lastPort)
}

// Loopback is the address of a port of the loopback, as host:port.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
