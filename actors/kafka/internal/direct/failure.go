package direct

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrToken matches the errors of connections whose sides have different tokens,
// or are of different applications.
var ErrToken = errors.New("the token, or the application, is another one")

var (
	// errFault: the other side does not keep to the protocol.
	errFault = errors.New("not what was expected")
	// errFull: there are as many connections as there may be.
	errFull = errors.New("too many connections")
	// errReplaced: the client has connected again.
	errReplaced = errors.New("the client has a newer connection")
	// errGone: nobody wants the connection any more.
	errGone = errors.New("closed")
)

// unanswered says what an end within the client's handshake may mean.
func unanswered(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer within %v; do both sides use TLS, or none?: %w", patience, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("turned away; too many connections, or no owner?: %w", err)
	default:
		return err
	}
}
