package direct

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"time"
)

// The handshake. Both sides show that they know the token, and neither sends
// it: an owner that is none learns nothing that opens a real one, and its
// answers are not taken.
//
//	owner   greeting  mark, nonce
//	client  hello     mark, peer, nonce, proof
//	owner   verdict   1 if the proof is right, and the owner's own; else 0
const (
	mark      = "bsd1" // and the version
	nonceSize = 16
	peerSize  = 16
	proofSize = sha256.Size

	greetingSize = len(mark) + nonceSize
	helloSize    = len(mark) + peerSize + nonceSize + proofSize
	verdictSize  = 1 + proofSize
)

// patience is how long the handshake may take, that of TLS included.
const patience = 5 * time.Second

// Who proves. It is part of the proof, so that one does not pass for the other's.
const (
	byClient byte = iota + 1
	byOwner
)

// NewPeer names a process to the owners. No other has the name.
func NewPeer() string {
	var random [peerSize / 2]byte
	_, _ = rand.Read(random[:]) // does not fail
	return hex.EncodeToString(random[:])
}

func nonce() []byte {
	random := make([]byte, nonceSize)
	_, _ = rand.Read(random) // does not fail
	return random
}

// proof shows that its maker knows the token, in this handshake only. All parts
// but the last are of fixed size.
func (c *Config) proof(who byte, owner, client []byte, peer string) []byte {
	h := hmac.New(sha256.New, []byte(c.Token))
	for _, part := range [][]byte{[]byte(mark), {who}, owner, client, []byte(peer), []byte(c.App)} {
		_, _ = h.Write(part) // does not fail
	}
	return h.Sum(nil)
}

// admit is the owner's side. It returns who the client is.
func (c *Config) admit(conn net.Conn) (peer string, err error) {
	_ = conn.SetDeadline(time.Now().Add(patience)) // what fails is told by the next read
	own := nonce()
	if _, err := conn.Write(append([]byte(mark), own...)); err != nil {
		return "", err
	}
	hello := make([]byte, helloSize)
	if err := expect(conn, hello); err != nil {
		return "", err
	}
	rest := hello[len(mark):]
	peer = string(rest[:peerSize])
	theirs, proof := rest[peerSize:peerSize+nonceSize], rest[peerSize+nonceSize:]
	if !hmac.Equal(proof, c.proof(byClient, own, theirs, peer)) { // in constant time
		_, _ = conn.Write(make([]byte, verdictSize)) // it is turned away in any case
		return "", ErrToken
	}
	if _, err := conn.Write(append([]byte{1}, c.proof(byOwner, own, theirs, peer)...)); err != nil {
		return "", err
	}
	return peer, conn.SetDeadline(time.Time{})
}

// introduce is the client's side.
func (c *Config) introduce(conn net.Conn, peer string) error {
	_ = conn.SetDeadline(time.Now().Add(patience)) // what fails is told by the next read
	greeting := make([]byte, greetingSize)
	if err := expect(conn, greeting); err != nil {
		return unanswered(err)
	}
	theirs, own := greeting[len(mark):], nonce()
	hello := append([]byte(mark+peer), own...)
	if _, err := conn.Write(append(hello, c.proof(byClient, theirs, own, peer)...)); err != nil {
		return unanswered(err)
	}
	verdict := make([]byte, verdictSize)
	if _, err := io.ReadFull(conn, verdict); err != nil {
		return unanswered(err)
	}
	if verdict[0] != 1 || !hmac.Equal(verdict[1:], c.proof(byOwner, theirs, own, peer)) {
		return ErrToken
	}
	return conn.SetDeadline(time.Time{})
}

// expect reads what begins with the mark. That is looked at first: who speaks
// another protocol may have less to say.
func expect(conn net.Conn, what []byte) error {
	if _, err := io.ReadFull(conn, what[:len(mark)]); err != nil {
		return err
	}
	if string(what[:len(mark)]) != mark {
		return fmt.Errorf("%w: it begins with %q", errFault, what[:len(mark)])
	}
	_, err := io.ReadFull(conn, what[len(mark):])
	return err
}
