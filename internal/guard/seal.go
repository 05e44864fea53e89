package guard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// seal makes the tokens of pages, and knows them again: each is a fresh number
// and its signature, so that nothing has to be remembered. Those of another
// process are worthless.
type seal struct{ secret []byte }

const nonceSize = 16

func newSeal() seal {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	return seal{secret}
}

// token returns a token for one page.
func (s seal) token() string {
	nonce := make([]byte, nonceSize, nonceSize+sha256.Size)
	_, _ = rand.Read(nonce) // never fails
	return base64.RawURLEncoding.EncodeToString(append(nonce, s.sign(nonce)...))
}

// made reports whether token is one of ours.
func (s seal) made(token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != nonceSize+sha256.Size {
		return false
	}
	return hmac.Equal(raw[nonceSize:], s.sign(raw[:nonceSize]))
}

func (s seal) sign(nonce []byte) []byte {
	h := hmac.New(sha256.New, s.secret)
	h.Write(nonce)
	return h.Sum(nil)
}
