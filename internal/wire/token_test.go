package wire_test

import (
	"strings"
	"testing"

	"github.com/backstay-go/backstay/internal/wire"
)

func TestATokenIsMadeOfWhatTheRFCNames(t *testing.T) {
	const others = "!#$%&'*+-.^_`|~"
	for r := range rune(0x101) {
		alphanumeric := r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if got, want := wire.IsToken("a"+string(r)), alphanumeric || strings.ContainsRune(others, r); got != want {
			t.Errorf("%q: %v", r, got)
		}
	}
	if wire.IsToken("") {
		t.Error("nothing is a token")
	}
}

func TestControlCharactersAreNoneOfAValue(t *testing.T) {
	for r, want := range map[rune]bool{0: true, '\n': true, '\r': true, 0x1f: true, 0x7f: true, '\t': false, ' ': false, 'a': false, 'é': false} {
		if wire.IsControl(r) != want {
			t.Errorf("%q: %v", r, !want)
		}
	}
}
