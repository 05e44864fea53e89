package kafkaflag

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// scram is the client's side of SCRAM, RFC 5802, without channel binding: both
// sides prove that they know the password, and nobody sends it. Names and
// passwords are taken as they are: those that are not ASCII must be in the form
// that the server has them in.
type scram struct {
	hash  func() hash.Hash
	nonce string // of the client

	password string
	first    string // the client's first message, without its header
	proof    []byte // that the server must give
	step     int
}

// Header of a client that knows no channel binding, and its encoding.
const (
	unbound        = "n,,"
	unboundEncoded = "biws"
)

// Begin prepares an exchange.
func (s *scram) Begin(user, password, authorization string) error {
	if authorization != "" {
		return errors.New("scram: acting for somebody else is not known here")
	}
	if s.nonce == "" {
		s.nonce = rand.Text()
	}
	s.password, s.step = password, 0
	s.first = "n=" + strings.NewReplacer("=", "=3D", ",", "=2C").Replace(user) + ",r=" + s.nonce
	return nil
}

// Step answers what the server has said.
func (s *scram) Step(said string) (string, error) {
	s.step++
	switch s.step {
	case 1:
		return unbound + s.first, nil
	case 2:
		return s.prove(said)
	default:
		return "", s.verify(said)
	}
}

// Done reports whether the exchange is over.
func (s *scram) Done() bool { return s.step > 2 }

// Rounds of hashing that a server may ask for: fewer do not protect the password,
// more are an attack.
const (
	fewest = 4096
	most   = 1 << 20
)

// prove proves that the client knows the password, and computes the proof that
// the server must give.
func (s *scram) prove(challenge string) (string, error) {
	said := attributes(challenge)
	salt, err := base64.StdEncoding.DecodeString(said["s"])
	if err != nil || said["s"] == "" {
		return "", errors.New("scram: the server's salt cannot be read")
	}
	rounds, err := strconv.Atoi(said["i"])
	if err != nil || rounds < fewest || rounds > most {
		return "", fmt.Errorf("scram: the server asks for %q rounds, %d to %d are allowed", said["i"], fewest, most)
	}
	if !strings.HasPrefix(said["r"], s.nonce) || len(said["r"]) == len(s.nonce) {
		return "", errors.New("scram: the server answers somebody else")
	}
	salted, err := pbkdf2.Key(s.hash, s.password, salt, rounds, s.hash().Size())
	if err != nil {
		return "", fmt.Errorf("scram: %w", err)
	}
	final := "c=" + unboundEncoded + ",r=" + said["r"]
	all := s.first + "," + challenge + "," + final
	key := s.sign(salted, "Client Key")
	h := s.hash()
	h.Write(key)
	signature := s.sign(h.Sum(nil), all)
	subtle.XORBytes(key, key, signature)
	s.proof = s.sign(s.sign(salted, "Server Key"), all)
	return final + ",p=" + base64.StdEncoding.EncodeToString(key), nil
}

// verify looks whether the server knows the password.
func (s *scram) verify(final string) error {
	said := attributes(final)
	if fault := said["e"]; fault != "" {
		return fmt.Errorf("scram: the server refuses: %s", fault)
	}
	proof, err := base64.StdEncoding.DecodeString(said["v"])
	if err != nil || !hmac.Equal(proof, s.proof) {
		return errors.New("scram: the server does not know the password")
	}
	return nil
}

func (s *scram) sign(key []byte, text string) []byte {
	m := hmac.New(s.hash, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// attributes takes a message apart: "r=x,s=y".
func attributes(message string) map[string]string {
	all := make(map[string]string)
	for part := range strings.SplitSeq(message, ",") {
		if name, value, ok := strings.Cut(part, "="); ok {
			all[name] = value
		}
	}
	return all
}
