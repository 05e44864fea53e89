package actors_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/backstay-go/backstay/actors"
)

func TestJSONWritesWhatTheStandardLibraryWrites(t *testing.T) {
	for _, v := range []any{
		0, -1, 1234567890, math.MaxInt, math.MinInt, int64(math.MinInt64), int32(7), uint8(9), 1.5, true, false, nil, struct{}{},
		"", "plain", "a\"b", `back\slash`, "<&>", "tab\t", "ü", "\x7f", "\xff", "\u2028", []string{"a"}, map[string]int{"b": 1},
	} {
		want, wrong := json.Marshal(v)
		got, err := actors.JSON{}.Encode(v)
		if !bytes.Equal(got, want) || (err == nil) != (wrong == nil) {
			t.Errorf("%#v: %s, %v, want %s, %v", v, got, err, want, wrong)
		}
	}
}

// decodesAlike decodes as the standard library does, into what had a value.
func decodesAlike[T comparable](t *testing.T, data []byte, before T) {
	t.Helper()
	want, got := before, before
	wrong := json.Unmarshal(data, &want)
	err := actors.JSON{}.Decode(data, &got)
	if got != want || (err == nil) != (wrong == nil) {
		t.Errorf("%q: %#v, %v, want %#v, %v", data, got, err, want, wrong)
	}
}

func FuzzJSONReadsWhatTheStandardLibraryReads(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "00", "01", "-", "7", "-7", "+7", "1e3", "1.0", " 7", "7 ", "123456789012345678", "1234567890123456789", "9223372036854775807",
		"9223372036854775808", "null", "true", "{}", "{ }", `{"a":1}`, `""`, `"a"`, `"`, `"a`, `a"`, `"a\"b"`, `"<"`, "\"\u00fc\"", "\"\xff\"", "\"\x01\"", "[]", "x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return // the zero value, here
		}
		decodesAlike(t, data, 5)
		decodesAlike(t, data, int64(5))
		decodesAlike(t, data, "before")
		decodesAlike(t, data, struct{}{})
		decodesAlike(t, data, true)
	})
}
