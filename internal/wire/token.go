package wire

import "strings"

// Tokens says what [IsToken] allows.
const Tokens = "letters, digits and -_.!#$%&'*+^`|~"

// IsToken reports whether s is a token of RFC 9110: the name of a header, or a
// method.
func IsToken(s string) bool { return s != "" && !strings.ContainsFunc(s, notInToken) }

func notInToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// IsControl reports whether r must not be in the value of a header.
func IsControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
