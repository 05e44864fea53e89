package idempotency_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/idempotency"
)

func TestCheckKey(t *testing.T) {
	for name, c := range map[string]struct {
		key   string
		valid bool
	}{
		"a UUID is valid":                        {"8e03978e-40d5-43dd-bc93-6894a57f9324", true},
		"one character is valid":                 {"k", true},
		"255 characters are valid":               {strings.Repeat("k", 255), true},
		"every printable character is valid":     {printable(), true},
		"the empty key is not":                   {"", false},
		"256 characters are not":                 {strings.Repeat("k", 256), false},
		"a line break is not":                    {"a\nb", false},
		"a tab is not":                           {"a\tb", false},
		"DEL is not":                             {"a\x7f", false},
		"a zero byte is not":                     {"\x00", false},
		"a letter beyond ASCII is not":           {"clé", false},
		"bytes that are not UTF-8 are not":       {"\xff", false},
		"a key that hides a header is not valid": {"k\r\nAuthorization: x", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := idempotency.CheckKey(c.key)
			if c.valid != (err == nil) || !c.valid && !errors.Is(err, idempotency.ErrKeyInvalid) {
				t.Errorf("CheckKey(%q) = %v", c.key, err)
			}
		})
	}
}

// printable contains every character that a key may have.
func printable() string {
	var all strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		all.WriteByte(c)
	}
	return all.String()
}

func TestNewKeysAreRandomUUIDsOfVersion4(t *testing.T) {
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	var ever [36]map[byte]bool // which characters each place has shown
	for range 2000 {
		key := idempotency.NewKey()
		if !shape.MatchString(key) || seen[key] {
			t.Fatalf("key %q is malformed or was made before", key)
		}
		seen[key] = true
		for i := range len(key) {
			if ever[i] == nil {
				ever[i] = make(map[byte]bool)
			}
			ever[i][key[i]] = true
		}
	}
	for i, all := range ever {
		want := 16
		switch i {
		case 8, 13, 18, 23, 14:
			want = 1
		case 19:
			want = 4
		}
		if len(all) != want {
			t.Errorf("place %d shows %d characters, want %d", i, len(all), want)
		}
	}
}

func TestTheKeyOfAContextIsTheLastOneGiven(t *testing.T) {
	ctx := context.Background()
	if key := idempotency.KeyFrom(ctx); key != "" {
		t.Errorf("an empty context has the key %q", key)
	}
	ctx = idempotency.WithKey(ctx, "outer")
	if key := idempotency.KeyFrom(idempotency.WithKey(ctx, "inner")); key != "inner" {
		t.Errorf("got %q, want inner", key)
	}
	if key := idempotency.KeyFrom(idempotency.WithKey(ctx, "")); key != "" {
		t.Errorf("got %q, want the empty key to hide the outer one", key)
	}
}
