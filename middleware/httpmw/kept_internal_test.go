package httpmw

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/backstay-go/backstay/internal/wire"
)

func FuzzKeptAnswers(f *testing.F) {
	f.Add([]byte("{\"status\":200}\nbody"), "X-A", "v\xff")
	f.Add([]byte("{\"status\":99}\n"), "", "")
	f.Add([]byte("{\"status\":200}"), "Set-Cookie", "a=b")
	f.Add([]byte("{\"status\":200,\"header\":{\"A\":[\"!\"]}}\n"), "A", "")
	f.Fuzz(func(t *testing.T, data []byte, name, value string) {
		if k, err := decode(data); err != nil && (k.Status != 0 || k.body != nil) {
			t.Errorf("an answer beside %v", err)
		}
		if name != http.CanonicalHeaderKey(name) || bytes.ContainsRune([]byte(name), '\uFFFD') {
			t.Skip("net/http has no such header")
		}
		k, err := decode(kept{Status: 201, Header: wire.Bytes(http.Header{name: {value, ""}}), body: data}.encode())
		if err != nil || k.Status != 201 || !bytes.Equal(k.body, data) {
			t.Fatalf("came back as %v, %v", k, err)
		}
		if got := wire.Texts(k.Header)[name]; len(got) != 2 || got[0] != value || got[1] != "" {
			t.Errorf("%q came back as %q", value, got)
		}
	})
}
