package idempotency_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/backstay-go/backstay/idempotency"
)

func fingerprint(body string, parts ...string) idempotency.Fingerprint {
	d := idempotency.NewDigest(parts...)
	_, _ = io.WriteString(d, body)
	return d.Sum()
}

// Computed by another program, as for derived keys: records outlive upgrades.
func TestFingerprintsStayTheSameForEver(t *testing.T) {
	for want, got := range map[string]idempotency.Fingerprint{
		"c0aa62909ddd51f42bdb1528abde182eba0eb9ab5c9cd8bfb44487adcd882c5c": idempotency.FingerprintOf(),
		"61bc3cc286bac293bde5d03dd8f8ac6d7dc615e768c3d5ff0f114590fce82924": idempotency.FingerprintOf("POST", "/charges", "alice"),
		"bd875d7ffa8ae9096e09537883b2b3a7ff0afecb40e7bd4ec2570fd79f6e99bc": fingerprint(`{"amount":1}`, "POST", "/charges", "alice"),
	} {
		if hex.EncodeToString(got[:]) != want {
			t.Errorf("got %x, want %s", got, want)
		}
	}
}

func TestFingerprintsTellMethodRoutePrincipalAndBodyApart(t *testing.T) {
	seen := make(map[idempotency.Fingerprint]string)
	for name, f := range map[string]idempotency.Fingerprint{
		"a request":         fingerprint("body", "POST", "/a", "alice"),
		"another method":    fingerprint("body", "PUT", "/a", "alice"),
		"another route":     fingerprint("body", "POST", "/b", "alice"),
		"another principal": fingerprint("body", "POST", "/a", "bob"),
		"another body":      fingerprint("Body", "POST", "/a", "alice"),
		"no body":           fingerprint("", "POST", "/a", "alice"),
		"a shifted border":  fingerprint("body", "POST/", "a", "alice"),
		"a body in a part":  fingerprint("", "POST", "/a", "alice", "body"),
		"a part in a body":  fingerprint("alicebody", "POST", "/a"),
		"one part more":     fingerprint("body", "POST", "/a", "alice", ""),
	} {
		if other, twice := seen[f]; twice {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[f] = name
	}
}

func TestHowABodyIsCutMakesNoDifference(t *testing.T) {
	d := idempotency.NewDigest("POST")
	if _, err := io.Copy(d, iotest.OneByteReader(strings.NewReader("a body"))); err != nil {
		t.Fatal(err)
	}
	half := d.Sum() // asking does not disturb
	if d.Sum() != half || half != fingerprint("a body", "POST") {
		t.Error("the fingerprint depends on the pieces")
	}
}

func TestReadBody(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{MaxBody: 4})
	broken := errors.New("connection reset")
	for name, c := range map[string]struct {
		body io.Reader
		want string
		err  error
	}{
		"no body is empty":                    {nil, "", nil},
		"an empty body is empty":              {strings.NewReader(""), "", nil},
		"a body at the limit is read":         {strings.NewReader("1234"), "1234", nil},
		"a body beyond it is refused":         {strings.NewReader("12345"), "", idempotency.ErrBodyTooLarge},
		"an endless body is refused":          {iotest.OneByteReader(endless{}), "", idempotency.ErrBodyTooLarge},
		"a body that breaks off is its error": {io.MultiReader(strings.NewReader("12"), iotest.ErrReader(broken)), "", broken},
	} {
		t.Run(name, func(t *testing.T) {
			data, got, err := guard.ReadBody(c.body, "POST", "/a")
			if !errors.Is(err, c.err) || string(data) != c.want {
				t.Fatalf("got %q, %v", data, err)
			}
			if err == nil && got != fingerprint(c.want, "POST", "/a") {
				t.Error("the fingerprint is another one")
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte{'x'}, len(p))), nil }
