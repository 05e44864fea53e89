package wire_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestHeadersComeOutOfJSONAsTheyWentIn(t *testing.T) {
	for name, h := range map[string]map[string][]string{
		"none":                   {},
		"several values":         {"Set-Cookie": {"a=1", "b=2"}},
		"bytes that are no text": {"X-Trace-Bin": {"\xab\x00\xff", ""}},
		"a name without values":  {"Date": {}},
	} {
		data, err := json.Marshal(wire.Bytes(h))
		if err != nil {
			t.Fatal(err)
		}
		var kept map[string][][]byte
		if err := json.Unmarshal(data, &kept); err != nil {
			t.Fatal(err)
		}
		if got := wire.Texts(kept); !maps.EqualFunc(got, h, slices.Equal) {
			t.Errorf("%s: %q came back as %q", name, h, got)
		}
	}
}
