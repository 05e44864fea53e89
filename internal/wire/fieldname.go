package wire

import "strings"

// FieldNames says what [IsFieldName] allows.
const FieldNames = "must be letters, digits and -_. and not end in -bin, which is for binary values"

// IsFieldName reports whether name can be that of an HTTP header, and the key
// of textual metadata in gRPC as well.
func IsFieldName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, notInFieldName) &&
		!strings.HasSuffix(strings.ToLower(name), "-bin")
}

func notInFieldName(r rune) bool {
	return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
