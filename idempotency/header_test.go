package idempotency_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/idempotency"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"a quoted UUID, as in the draft":  {`"8e03978e-40d5-43dd-bc93-6894a57f9324"`, "8e03978e-40d5-43dd-bc93-6894a57f9324"},
		"a bare UUID, as deployed":        {"8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"},
		"spaces around it do not count":   {" \t\"a\"\t ", "a"},
		"nor around a bare one":           {"  a\t", "a"},
		"spaces in quotes count":          {`" a "`, " a "},
		"a space alone is a key":          {`" "`, " "},
		"an escaped quote":                {`"a\"b"`, `a"b`},
		"an escaped backslash":            {`"a\\b"`, `a\b`},
		"an escaped backslash at the end": {`"a\\"`, `a\`},
		"a comma in quotes":               {`"a,b"`, "a,b"},
		"bare base64":                     {"YWJjZA+/==", "YWJjZA+/=="},
		"a bare colon":                    {"order:42", "order:42"},
		"a bare backslash is itself":      {`a\b`, `a\b`},
		"255 characters bare":             {strings.Repeat("k", 255), strings.Repeat("k", 255)},
		"255 characters in quotes":        {`"` + strings.Repeat("k", 255) + `"`, strings.Repeat("k", 255)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := idempotency.Parse(c.value); err != nil || got != c.want {
				t.Errorf("Parse(%q) = %q, %v, want %q", c.value, got, err, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, value := range map[string]string{
		"nothing":                       "",
		"spaces":                        "  \t",
		"empty quotes":                  `""`,
		"an open quote":                 `"abc`,
		"a quote alone":                 `"`,
		"an open escape":                `"abc\`,
		"an escape before the end":      `"abc\"`,
		"an unknown escape":             `"a\bc"`,
		"something behind the quote":    `"abc"d`,
		"a parameter":                   `"abc";v=1`,
		"two keys in one field":         `"abc", "def"`,
		"two bare keys in one field":    "abc, def",
		"two bare keys without a space": "abc,def",
		"a bare space":                  "a b",
		"a bare quote inside":           `a"b`,
		"a line break in quotes":        "\"a\nb\"",
		"a line break":                  "a\nb",
		"a letter beyond ASCII":         `"clé"`,
		"256 characters":                strings.Repeat("k", 256),
		"256 characters in quotes":      `"` + strings.Repeat("k", 256) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := idempotency.Parse(value); !errors.Is(err, idempotency.ErrKeyInvalid) || got != "" {
				t.Errorf("Parse(%q) = %q, %v, want ErrKeyInvalid", value, got, err)
			}
		})
	}
}

func TestParseFields(t *testing.T) {
	if key, err := idempotency.ParseFields(nil); key != "" || err != nil {
		t.Errorf("no field: %q, %v, want no key and no error", key, err)
	}
	if key, err := idempotency.ParseFields([]string{`"a"`}); key != "a" || err != nil {
		t.Errorf("one field: %q, %v, want a", key, err)
	}
	for _, several := range [][]string{{"a", "b"}, {"a", "a"}, {"a", ""}} {
		if key, err := idempotency.ParseFields(several); key != "" || !errors.Is(err, idempotency.ErrKeyInvalid) {
			t.Errorf("%q: %q, %v, want ErrKeyInvalid", several, key, err)
		}
	}
	if _, err := idempotency.ParseFields([]string{""}); !errors.Is(err, idempotency.ErrKeyInvalid) {
		t.Errorf("an empty field: %v, want ErrKeyInvalid", err)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		key  string
		bare bool
		want string
	}{
		{"abc", false, `"abc"`},
		{"abc", true, "abc"},
		{`a"b\c`, false, `"a\"b\\c"`},
		{`a\b`, true, `a\b`},
		{"a b", true, `"a b"`}, // cannot go bare
		{"a,b", true, `"a,b"`},
		{`a"b`, true, `"a\"b"`},
	} {
		if got := idempotency.Format(c.key, c.bare); got != c.want {
			t.Errorf("Format(%q, %t) = %q, want %q", c.key, c.bare, got, c.want)
		}
	}
}

// FuzzParse: what is accepted is a valid key that survives both forms, and
// every valid key survives both forms.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`"8e03978e-40d5-43dd-bc93-6894a57f9324"`, sampleKey, `"a\"b\\c"`, `"a\`, `""`, `"`, " a\t", "a,b", "a b", `a"b`, "\"\x7f\"", "é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		survives := func(key string) {
			for _, bare := range []bool{false, true} {
				value := idempotency.Format(key, bare)
				if got, err := idempotency.Parse(value); err != nil || got != key {
					t.Errorf("key %q becomes %q and comes back as %q, %v", key, value, got, err)
				}
			}
		}
		key, err := idempotency.Parse(text)
		switch {
		case err == nil && idempotency.CheckKey(key) != nil:
			t.Errorf("Parse(%q) accepts the invalid key %q", text, key)
		case err == nil:
			survives(key)
		case key != "" || !errors.Is(err, idempotency.ErrKeyInvalid):
			t.Errorf("Parse(%q) = %q, %v", text, key, err)
		}
		if idempotency.CheckKey(text) == nil {
			survives(text)
		}
	})
}
