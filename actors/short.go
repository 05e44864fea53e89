package actors

import (
	"encoding/json"
	"strconv"
)

// Most arguments, results and values of counters and the like are plain. JSON
// writes and reads those without reflection.

// appendTo appends what Encode returns. Plain numbers, words and nothings take
// a short way to the same bytes.
func (JSON) appendTo(to []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case struct{}:
		return append(to, "{}"...), nil
	case bool:
		return strconv.AppendBool(to, v), nil
	case int:
		return strconv.AppendInt(to, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(to, v, 10), nil
	case string:
		if plain(v) {
			return append(append(append(to, '"'), v...), '"'), nil
		}
	}
	text, err := json.Marshal(v)
	if len(to) == 0 {
		return text, err
	}
	return append(to, text...), err
}

// short decodes what appendTo has encoded the short way, and reports false for
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
