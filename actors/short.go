package actors

import "strconv"

// Most arguments, results and values of counters and the like are plain. JSON
// writes and reads those without reflection.

// encode appends what the codec makes of a value. One that takes the short way
// is not put on the heap for it, since nothing there keeps it.
func encode[T any](codec Codec, to []byte, v T) ([]byte, error) {
	if _, ok := codec.(JSON); ok {
		if text, ok := appendShort(to, v); ok {
			return text, nil
		}
	}
	text, err := codec.Encode(v)
	if len(to) == 0 {
		return text, err
	}
	return append(to, text...), err
}

// decode is the value that the codec makes of data.
func decode[T any](codec Codec, data []byte) (v T, err error) {
	if _, ok := codec.(JSON); ok && (len(data) == 0 || short(data, &v)) {
		return v, nil
	}
	other := new(T) // else v would be on the heap, whichever way it came
	err = codec.Decode(data, other)
	return *other, err
}

// appendShort appends what json.Marshal makes of plain numbers, words and
// nothings, and reports false for everything else.
func appendShort(to []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case struct{}:
		return append(to, "{}"...), true
	case bool:
		return strconv.AppendBool(to, v), true
	case int:
		return strconv.AppendInt(to, int64(v), 10), true
	case int64:
		return strconv.AppendInt(to, v, 10), true
	case string:
		if plain(v) {
			return append(append(append(to, '"'), v...), '"'), true
		}
	}
	return to, false
}

// short decodes what appendShort has encoded, and reports false for
// everything else.
func short(data []byte, v any) bool {
	switch v := v.(type) {
	case *struct{}:
		return string(data) == "{}"
	case *int:
		n, ok := wholeNumber(data)
		if ok {
			*v = int(n)
		}
		return ok && int64(int(n)) == n
	case *int64:
		n, ok := wholeNumber(data)
		if ok {
			*v = n
		}
		return ok
	case *string:
		last := len(data) - 1
		if last < 1 || data[0] != '"' || data[last] != '"' || !plain(data[1:last]) {
			return false
		}
		*v = string(data[1:last])
		return true
	}
	return false
}

// plain reports whether a string is written in JSON as it is.
func plain[S string | []byte](s S) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// wholeNumber reads a number of at most 18 digits, as JSON writes it.
func wholeNumber(data []byte) (n int64, ok bool) {
	const most = 18
	digits := data
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > most || digits[0] == '0' && len(data) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(data) {
		n = -n
	}
	return n, true
}
