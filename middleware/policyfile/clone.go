package policyfile

import (
	"reflect"

	"github.com/backstay-go/backstay/middleware"
)

// clone returns a copy of t that shares nothing with it.
func clone[T middleware.Target | middleware.Server](t T) T {
	detach(reflect.ValueOf(&t).Elem())
	return t
}

// detach copies what v points to.
func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range v.Fields() {
			if f.CanSet() {
				detach(f)
			}
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
		for _, item := range copied.Seq2() {
			detach(item)
		}
		v.Set(copied)
	case reflect.Map:
		copied := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, item := range v.Seq2() {
			copied.SetMapIndex(key, item)
		}
		if !v.IsNil() {
			v.Set(copied)
		}
	default:
	}
}
