package actors

import "encoding/json"

// Codec turns arguments, results and stored values into bytes and back. All
// processes of an application use the same one. It must be safe for concurrent
// use. A codec that encrypts is a Codec round another.
type Codec interface {
	// Encode must not keep v, nor what it returns.
	Encode(v any) ([]byte, error)
	// Decode fills what v points at. It must not keep data.
	Decode(data []byte, v any) error
}

// JSON is the default Codec, that of encoding/json.
type JSON struct{}

// Encode is json.Marshal.
func (JSON) Encode(v any) ([]byte, error) {
	if text, ok := appendShort(nil, v); ok {
		return text, nil
	}
	return json.Marshal(v)
}

// Decode is json.Unmarshal; no data is the zero value.
func (JSON) Decode(data []byte, v any) error {
	if len(data) == 0 || short(data, v) {
		return nil
	}
	return json.Unmarshal(data, v)
}
