package main

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// text is the message of all methods of the inventory. A shop of your own has a
// .proto, and generated code in the place of the second half of this file.
type text = wrapperspb.StringValue

// The inventory's methods.
const (
	inventoryService = "shop.v1.Inventory"
	stockMethod      = "/shop.v1.Inventory/Stock"
	reserveMethod    = "/shop.v1.Inventory/Reserve"
)

// inventory knows what there is, and puts things aside for orders.
type inventory struct{ ledger *ledger }

// stock tells how much there is of an item.
func (i *inventory) stock(_ context.Context, item *text) (*text, error) {
	time.Sleep(time.Millisecond)
	return wrapperspb.String("12 of " + item.GetValue()), nil
}

// reserve puts something aside for an order.
func (i *inventory) reserve(_ context.Context, order *text) (*text, error) {
	time.Sleep(2 * time.Millisecond)
	i.ledger.reserve(order.GetValue())
	return wrapperspb.String("reserved"), nil
}

// desc describes the service, as generated code does.
func (i *inventory) desc() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: inventoryService, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			{MethodName: "Stock", Handler: unary(stockMethod, i.stock)},
			{MethodName: "Reserve", Handler: unary(reserveMethod, i.reserve)},
		},
	}
}

// unary makes a method's handler of f.
func unary(method string, f func(context.Context, *text) (*text, error)) grpc.MethodHandler {
	run := func(ctx context.Context, req any) (any, error) {
		message, _ := req.(*text)
		return f(ctx, message)
	}
	//nolint:revive // the order of the parameters is grpc-go's
	return func(srv any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
		req := new(text)
		if err := decode(req); err != nil {
			return nil, err
		}
		if chain == nil {
			return run(ctx, req)
		}
		return chain(ctx, req, &grpc.UnaryServerInfo{Server: srv, FullMethod: method}, run)
	}
}
