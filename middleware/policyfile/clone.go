package policyfile

import (
	"io"
	"reflect"

	"github.com/backstay-go/backstay/middleware"
)

// clone returns a copy of t that shares nothing with it.
func clone(t middleware.Target) middleware.Target {
	copied := reflect.New(reflect.TypeFor[middleware.Target]()).Elem()
	copied.Set(reflect.ValueOf(t))
	detach(copied)
	return copied.Interface().(middleware.Target) //nolint:errcheck,forcetypeassert // it was made of that type
}

// detach copies what v points to.
func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			detach(f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			detach(copied.Elem())
			v.Set(copied)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
	default:
	}
}

// readAtMost reads r to its end, or n bytes.
func readAtMost(r io.Reader, n int64) ([]byte, error) { return io.ReadAll(io.LimitReader(r, n)) }
