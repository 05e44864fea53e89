package journal

import "context"

// Answers carry the ends of calls to the clients that wait for them, at best
// once and in no order: a client that got none asks again.
type Answers interface {
	// Listen opens an address for answers until close is called. deliver must
	// not block and may be called concurrently.
	Listen(ctx context.Context, deliver func(data []byte)) (address string, closing func(), err error)
	// Answer sends data to an address. Nobody may be there any more: that is no
	// error.
	Answer(address string, data []byte)
}
