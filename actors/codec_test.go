package actors_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors"
)

// sealed is a codec that encrypts.
type sealed struct {
	actors.JSON
	cipher.AEAD
}

func newSealed(t *testing.T) sealed {
	t.Helper()
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return sealed{AEAD: aead}
}

func (s sealed) Encode(v any) ([]byte, error) {
	text, err := s.JSON.Encode(v)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, s.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return s.Seal(nonce, nonce, text, nil), nil
}

func (s sealed) Decode(data []byte, v any) error {
	if len(data) < s.NonceSize() {
		return errors.New("too short")
	}
	text, err := s.Open(nil, data[:s.NonceSize()], data[s.NonceSize():], nil)
	if err != nil {
		return err
	}
	return s.JSON.Decode(text, v)
}

func TestACodecOfTheUsersOwnSeesArgumentsResultsAndValues(t *testing.T) {
	inBubble(t, func(c *cluster) {
		last := actors.NewValue[string](Thing, "last")
		bySender := actors.NewMap[string, string](Thing, "by-sender")
		hear := actors.Declare[string, string](Thing, "hear")
		again := actors.Declare[string, string](Thing, "again")
		recall := actors.DeclareQuery[string, string](Thing, "recall")
		node := c.open(actors.Config{Codec: newSealed(t)}, actors.Host(Thing, actors.Settings{},
			actors.HandleNext(hear, func(_ context.Context, self self, word string) (actors.Next[string], error) {
				return again.Tail(self, word), errors.Join(last.Set(self, word), bySender.Set(self, "someone", word))
			}),
			actors.Handle(again, func(ctx context.Context, self self, word string) (string, error) {
				v, err := last.Get(ctx, self)
				return v + " " + word, err
			}),
			actors.HandleShared(recall, func(ctx context.Context, view actors.View[thing], _ string) (string, error) {
				v, _, err := bySender.Get(ctx, view, "someone")
				return v, err
			}),
		))
		ctx := c.on(node)
		got, err := hear.Call(ctx, Thing.Ref("x"), "secret")
		equal(c, got, err, "secret secret")
		got, err = recall.Call(ctx, Thing.Ref("x"), "")
		equal(c, got, err, "secret")
		for i := range uint32(4) {
			for _, e := range entries(c, i) {
				if strings.Contains(string(e.Data), "secret") {
					t.Error("it is in the log in clear")
				}
			}
		}
	})
}

func TestJSONTakesNoDataForTheZeroValue(t *testing.T) {
	v := 7
	if err := (actors.JSON{}).Decode(nil, &v); err != nil || v != 7 {
		t.Error(v, err)
	}
}
