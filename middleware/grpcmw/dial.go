package grpcmw

import (
	"google.golang.org/grpc"

	"github.com/backstay-go/backstay/middleware"
)

// DialOptions is [NewClient] and its [Client.DialOptions] in one, for
// connections whose Client nobody asks for anything later: to close it, to read
// its state, or to put another target in force, keep the Client.
//
//	options, err := grpcmw.DialOptions(policies.Target("inventory"))
//	if err != nil {
//		return err
//	}
//	conn, err := grpc.NewClient("dns:///inventory:443", append(options, credentials)...)
func DialOptions(target middleware.Target, options ...Option) ([]grpc.DialOption, error) {
	c, err := NewClient(target, options...)
	if err != nil {
		return nil, err
	}
	return c.DialOptions(), nil
}
