package wire

// Bytes returns headers, or metadata, as they are kept in JSON: their values
// may be any bytes, which a text of JSON may not. A name without values is one,
// too: it keeps net/http from setting that header.
func Bytes(h map[string][]string) map[string][][]byte {
	kept := make(map[string][][]byte, len(h))
	for name, values := range h {
		all := make([][]byte, len(values))
		for i, v := range values {
			all[i] = []byte(v)
		}
		kept[name] = all
	}
	return kept
}

// Texts returns headers, or metadata, of what [Bytes] made of them.
func Texts(kept map[string][][]byte) map[string][]string {
	h := make(map[string][]string, len(kept))
	for name, values := range kept {
		all := make([]string, len(values))
		for i, v := range values {
			all[i] = string(v)
		}
		h[name] = all
	}
	return h
}
