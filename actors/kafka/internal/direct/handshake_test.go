package direct

import (
	"bytes"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shake lets both sides meet.
func shake(client, server Config) (peer string, clients, servers error) {
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- client.introduce(ours, anna) }()
	peer, servers = server.admit(theirs)
	clients = <-ended
	_ = theirs.Close()
	return peer, clients, servers
}

func TestBothSidesKnowEachOtherByTheToken(t *testing.T) {
	right := Config{App: "bank", Token: "one token of many"}
	if peer, a, b := shake(right, right); peer != anna || a != nil || b != nil {
		t.Errorf("%q, client: %v, owner: %v", peer, a, b)
	}
	for name, other := range map[string]Config{
		"another token":       {App: "bank", Token: "another token ..."},
		"another application": {App: "shop", Token: right.Token},
	} {
		if peer, a, b := shake(other, right); peer != "" || !errors.Is(a, ErrToken) || !errors.Is(b, ErrToken) {
			t.Errorf("%s: %q, client: %v, owner: %v", name, peer, a, b)
		}
	}
}

// One that repeats what it hears, or says yes to all, is not taken for an owner.
func TestAnOwnerThatDoesNotKnowTheTokenIsNotBelieved(t *testing.T) {
	for name, verdict := range map[string]func(hello []byte) []byte{
		"yes without a proof":   func([]byte) []byte { return append([]byte{1}, make([]byte, proofSize)...) },
		"the proof sent back":   func(hello []byte) []byte { return append([]byte{1}, hello[helloSize-proofSize:]...) },
		"no with a right proof": nil,
	} {
		c := Config{App: "bank", Token: "one token of many"}
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			greeting := append([]byte(mark), nonce()...)
			_, _ = theirs.Write(greeting)
			hello := make([]byte, helloSize)
			if expect(theirs, hello) != nil {
				return
			}
			answer := append([]byte{0}, c.proof(byOwner, greeting[len(mark):], hello[len(mark)+peerSize:][:nonceSize], anna)...)
			if verdict != nil {
				answer = verdict(hello)
			}
			_, _ = theirs.Write(answer)
		}()
		if err := c.introduce(ours, anna); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheTokenDoesNotGoOverTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{App: "bank", Token: "one token of many"}
		ours, theirs := net.Pipe()
		var heard bytes.Buffer
		go func() {
			_, _ = theirs.Write(append([]byte(mark), nonce()...))
			_, _ = heard.ReadFrom(theirs)
		}()
		go func() {
			time.Sleep(time.Second)
			_ = ours.Close()
		}()
		_ = c.introduce(ours, anna)
		synctest.Wait()
		if heard.Len() != helloSize || bytes.Contains(heard.Bytes(), []byte(c.Token)) {
			t.Errorf("%q", heard.String())
		}
	})
}

func TestWhoSaysNothingInTheHandshakeIsLeftAfterAWhile(t *testing.T) {
	for _, part := range []string{mark[:2], mark, mark + "half of who it is"} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{App: "bank", Token: "one token of many"}
			ours, theirs := net.Pipe()
			go func() { _, _ = ours.Write([]byte(part)) }()
			go func() { _, _ = new(bytes.Buffer).ReadFrom(ours) }()
			began := time.Now()
			if _, err := c.admit(theirs); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != patience {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			_ = theirs.Close()
		})
	}
}

func TestAClientSaysWhatSilenceMayMean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{App: "bank", Token: "one token of many"}
		ours, theirs := net.Pipe()
		if err := c.introduce(ours, anna); err == nil || !strings.Contains(err.Error(), "do both sides use TLS") {
			t.Error(err)
		}
		_ = theirs.Close()
		ours, theirs = net.Pipe()
		_ = theirs.Close()
		if err := c.introduce(ours, anna); err == nil || !strings.Contains(err.Error(), "turned away") {
			t.Error(err)
		}
		ours, theirs = net.Pipe()
		go func() { _, _ = theirs.Write([]byte("HTTP/1.1 400 Bad Request\r\n")) }()
		if err := c.introduce(ours, anna); !errors.Is(err, errFault) {
			t.Error(err)
		}
		_ = ours.Close()
	})
}
