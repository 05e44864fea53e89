package actors

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
)

// Keys of maps are stored as text whose order is theirs: strings as they are,
// whole numbers in hexadecimal digits with the sign turned round, others by
// their own words.

// encodeKey is the stored form of a key.
func encodeKey[K comparable](key K) (string, error) {
	switch k := any(key).(type) {
	case string:
		return k, nil
	case encoding.TextMarshaler:
		text, err := k.MarshalText()
		return string(text), err
	}
	switch v := reflect.ValueOf(key); {
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.CanInt():
		return fmt.Sprintf("%016x", uint64(v.Int())^signBit), nil //nolint:gosec // the bits are meant
	case v.CanUint():
		return fmt.Sprintf("%016x", v.Uint()), nil
	}
	text, err := json.Marshal(key)
	return string(text), err
}

const signBit = 1 << 63

// decodeKey is the key of a stored form.
func decodeKey[K comparable](text string) (key K, err error) {
	switch k := any(&key).(type) {
	case *string:
		*k = text
		return key, nil
	case encoding.TextUnmarshaler:
		err = k.UnmarshalText([]byte(text))
		return key, err
	}
	switch v := reflect.ValueOf(&key).Elem(); {
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.CanInt():
		var bits uint64
		bits, err = strconv.ParseUint(text, 16, 64)
		v.SetInt(int64(bits ^ signBit)) //nolint:gosec // the bits are meant
	case v.CanUint():
		var bits uint64
		bits, err = strconv.ParseUint(text, 16, 64)
		v.SetUint(bits)
	default:
		err = json.Unmarshal([]byte(text), &key)
	}
	return key, err
}
