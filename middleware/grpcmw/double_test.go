package grpcmw_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/backstay-go/backstay/middleware/grpcmw"
)

// fourAttempts is a service config with retries of grpc-go's own.
const fourAttempts = `{"methodConfig":[{"name":[{}],"retryPolicy":{"maxAttempts":4,"initialBackoff":"0.01s",` +
	`"maxBackoff":"0.01s","backoffMultiplier":1,"retryableStatusCodes":["UNAVAILABLE"]}}]}`

func TestTheServiceConfigsRetriesMultiplyOursOnlyWhereTheyAreNotSwitchedOff(t *testing.T) {
	for _, c := range []struct {
		name  string
		dial  func(*grpcmw.Client) []grpc.DialOption
		calls int64
	}{
		{"with DialOptions", (*grpcmw.Client).DialOptions, 3},
		{"by hand, with WithDisableRetry", func(c *grpcmw.Client) []grpc.DialOption {
			return []grpc.DialOption{grpc.WithUnaryInterceptor(c.Unary), grpc.WithDisableRetry()}
		}, 3},
		{"by hand, and nothing else: what the documentation warns of", func(c *grpcmw.Client) []grpc.DialOption {
			return []grpc.DialOption{grpc.WithUnaryInterceptor(c.Unary)}
		}, 12},
		{"a target without retries leaves grpc-go its own", func(*grpcmw.Client) []grpc.DialOption {
			return client(t, only("test")).DialOptions()
		}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				e := failing(99, down)
				options := append(c.dial(client(t, retries(), reads())), grpc.WithDefaultServiceConfig(fourAttempts))
				_, err := call(t.Context(), dial(t, e.serve(t), nil, options...), "x")
				code(t, err, codes.Unavailable)
				if got := e.calls.Load(); got != c.calls {
					t.Errorf("%d calls, want %d", got, c.calls)
				}
			})
		})
	}
}

// What one attempt of ours tells is not mixed with what grpc-go's own tell.
func TestGRPCsOwnRetriesTellTheServerOfThemselves(t *testing.T) {
	virtual(t, func(t *testing.T) {
		e := failing(1, down)
		options := append(client(t, only("test")).DialOptions(), grpc.WithDefaultServiceConfig(fourAttempts))
		if _, err := call(t.Context(), dial(t, e.serve(t), nil, options...), "x"); err != nil {
			t.Fatal(err)
		}
		if first, second := e.metadata(1, "grpc-previous-rpc-attempts"), e.metadata(2, "grpc-previous-rpc-attempts"); len(first) != 0 || len(second) != 1 {
			t.Errorf("told %q, then %q", first, second)
		}
	})
}

// refusing is a server that refuses every stream before it looks at it, as one
// does that goes down. It returns where it listens, and how many streams came.
func refusing(t *testing.T) (string, *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	streams := new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			refuse(conn, streams)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String(), streams
}

// The few frames of HTTP/2 that it takes to refuse.
const (
	frameHeaders, frameReset, frameSettings, framePing = 1, 3, 4, 6

	flagAck       = 1
	refusedStream = 7
)

func refuse(conn net.Conn, streams *atomic.Int64) {
	defer conn.Close()
	_, _ = io.ReadFull(conn, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
	writeFrame(conn, frameSettings, 0, 0, nil)
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		body := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, body); err != nil {
			return
		}
		switch kind, flags := head[3], head[4]; {
		case kind == frameHeaders:
			streams.Add(1)
			writeFrame(conn, frameReset, 0, binary.BigEndian.Uint32(head[5:]), binary.BigEndian.AppendUint32(nil, refusedStream))
		case (kind == frameSettings || kind == framePing) && flags&flagAck == 0:
			if kind == frameSettings {
				body = nil
			}
			writeFrame(conn, kind, flagAck, 0, body)
		}
	}
}

func writeFrame(w io.Writer, kind, flags byte, stream uint32, body []byte) {
	head := []byte{byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body)), kind, flags}
	_, _ = w.Write(append(binary.BigEndian.AppendUint32(head, stream), body...))
}

// grpc-go sends an RPC once more by itself that a server has not looked at. We
// cannot count that, and need not: what was not looked at cost nothing.
func TestTransparentRetriesOfGRPCStay(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []grpcmw.Option
		streams int64
	}{
		{"a method that may not be repeated", nil, 2},
		{"a read", []grpcmw.Option{reads()}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, streams := refusing(t)
			policies := client(t, retries(), c.options...)
			cc, err := grpc.NewClient(address, append(policies.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
			if err != nil {
				t.Fatal(err)
			}
			defer cc.Close()
			_, err = call(metadata.AppendToOutgoingContext(t.Context(), "mine", "1"), cc, "x")
			code(t, err, codes.Unavailable)
			if got := streams.Load(); got != c.streams {
				t.Errorf("%d streams, want %d", got, c.streams)
			}
		})
	}
}
