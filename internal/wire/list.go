package wire

import "strings"

// member is one string of a structured list (RFC 9651), with its parameters.
type member struct {
	name   string
	params []param
}

// param is a parameter; isInteger is false where its value is of another type,
// which is checked for form and not kept.
type param struct {
	key       string
	integer   int64
	isInteger bool
}

// param returns the parameter called key; of several, the last.
func (m member) param(key string) (found param, ok bool) {
	for _, p := range m.params {
		if p.key == key {
			found, ok = p, true
		}
	}
	return found, ok
}

// parseList reads a list of strings with parameters from the fields of one
// header. One fault anywhere makes all of it unusable.
func parseList(values []string) (all []member, ok bool) {
	in := scanner{rest: strings.Join(values, ",")}
	in.skip(" ")
	for in.rest != "" {
		name, ok := in.quoted()
		if !ok {
			return nil, false
		}
		params, ok := in.params()
		if !ok {
			return nil, false
		}
		all = append(all, member{name, params})
		in.skip(" \t")
		if in.rest == "" {
			break
		}
		if !in.next(',') {
			return nil, false
		}
		in.skip(" \t")
		if in.rest == "" {
			return nil, false // a comma at the end
		}
	}
	return all, true
}

// scanner takes structured values off the front of rest.
type scanner struct{ rest string }

func (s *scanner) skip(set string) { s.rest = strings.TrimLeft(s.rest, set) }

// next takes c if it comes next.
func (s *scanner) next(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// take takes bytes as long as they are in the set.
func (s *scanner) take(in func(c byte) bool) string {
	n := 0
	for n < len(s.rest) && in(s.rest[n]) {
		n++
	}
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

// params takes ;key or ;key=value, as often as they come.
func (s *scanner) params() (all []param, ok bool) {
	for s.next(';') {
		s.skip(" ")
		p := param{key: s.take(isKey)}
		if p.key == "" || p.key[0] != '*' && !isLower(p.key[0]) {
			return nil, false
		}
		if s.next('=') {
			if p.integer, p.isInteger, ok = s.value(); !ok {
				return nil, false
			}
		}
		all = append(all, p)
	}
	return all, true
}

// value takes a bare item of any type, and keeps it if it is an integer.
func (s *scanner) value() (n int64, isInteger, ok bool) {
	if s.rest == "" {
		return 0, false, false
	}
	switch c := s.rest[0]; {
	case c == '"':
		_, ok = s.quoted()
	case c == '-' || isDigit(c):
		return s.numeric()
	case c == '*' || isAlpha(c):
		s.take(isToken)
		ok = true
	case s.next('?'):
		ok = s.next('0') || s.next('1')
	case s.next('@'):
		_, isInteger, ok = s.numeric()
		return 0, false, ok && isInteger
	case s.next(':'):
		s.take(isBase64)
		ok = s.next(':')
	case s.next('%'):
		_, ok = s.quoted() // what is escaped in it does not matter here
	}
	return 0, false, ok
}

// numeric takes an integer of up to 15 digits, or a decimal number of up to
// 12 and 3.
func (s *scanner) numeric() (n int64, isInteger, ok bool) {
	negative := s.next('-')
	whole := s.take(isDigit)
	if s.next('.') {
		fraction := s.take(isDigit)
		return 0, false, whole != "" && len(whole) <= 12 && fraction != "" && len(fraction) <= 3
	}
	u, ok := number(whole)
	if !ok || len(whole) > 15 {
		return 0, false, false
	}
	if n = int64(u); negative {
		n = -n
	}
	return n, true, true
}

// quoted takes a string in double quotes, of printable ASCII, in which a
// backslash escapes itself and the quote.
func (s *scanner) quoted() (string, bool) {
	if !s.next('"') {
		return "", false
	}
	var b strings.Builder
	for {
		b.WriteString(s.take(func(c byte) bool { return c >= ' ' && c <= '~' && c != '"' && c != '\\' }))
		switch {
		case s.next('"'):
			return b.String(), true
		case s.next('\\') && s.rest != "" && (s.rest[0] == '"' || s.rest[0] == '\\'):
			b.WriteByte(s.rest[0])
			s.rest = s.rest[1:]
		default:
			return "", false
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isAlpha(c byte) bool { return isLower(c|0x20) && c < 0x80 }
func isKey(c byte) bool {
	return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0
}
func isToken(c byte) bool {
	return isAlpha(c) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
}
func isBase64(c byte) bool {
	return isAlpha(c) || isDigit(c) || strings.IndexByte("+/=", c) >= 0
}
