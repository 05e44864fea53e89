package idempotency

import "strings"

// DefaultHeader is the header that carries the key, as in the IETF draft "The
// Idempotency-Key HTTP Header Field".
const DefaultHeader = "Idempotency-Key"

// Format returns key as the value of a header: a quoted structured-field
// string, or the bare key where bare is asked for. A key that contains a space,
// a comma or a quote cannot be told apart when bare, and is quoted all the
// same. [Parse] reads back both forms of every key that passes [CheckKey].
func Format(key string, bare bool) string {
	if bare && canBeBare(key) {
		return key
	}
	var b strings.Builder
	b.Grow(len(key) + 2)
	b.WriteByte('"')
	for i := range len(key) {
		if key[i] == '"' || key[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(key[i])
	}
	b.WriteByte('"')
	return b.String()
}

// Parse reads the key from the value of a header: a structured-field string
// (RFC 9651, in quotes, with the escapes \" and \\), or the key itself without
// quotes. Spaces and tabs around the value do not count. Structured-field
// parameters are refused, since no meaning is defined for them. Errors match
// [ErrKeyInvalid].
func Parse(value string) (string, error) {
	value = strings.Trim(value, " \t")
	if strings.HasPrefix(value, `"`) {
		return parseQuoted(value)
	}
	if err := CheckKey(value); err != nil {
		return "", err
	}
	if !canBeBare(value) {
		return "", invalidKey(value, "without quotes it must not contain a space, a comma or a quote")
	}
	return value, nil
}

// ParseFields reads the key from all the fields of one header. Without a field
// the key is empty and there is no error: whether a key is required is for the
// [Guard] to say. Two fields, even equal ones, are an error that matches
// [ErrKeyInvalid], since which of them counts would be a guess.
func ParseFields(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return Parse(values[0])
	default:
		return "", invalidKey(values[0], "the header was sent more than once")
	}
}

// canBeBare reports whether key survives a header without quotes. A comma does
// not: it is what two fields look like after a proxy has joined them.
func canBeBare(key string) bool { return !strings.ContainsAny(key, `", `) }

// parseQuoted reads a value that begins with a quote.
func parseQuoted(value string) (string, error) {
	var key strings.Builder
	for i := 1; i < len(value); i++ {
		switch value[i] {
		case '"':
			if i != len(value)-1 {
				return "", invalidKey(value, "there is something behind the closing quote")
			}
			return checked(key.String())
		case '\\':
			i++
			if i == len(value) || value[i] != '"' && value[i] != '\\' {
				return "", invalidKey(value, "a backslash must precede a quote or a backslash")
			}
		}
		key.WriteByte(value[i])
	}
	return "", invalidKey(value, "the closing quote is missing")
}

func checked(key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	return key, nil
}
