package grpcmw

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/backstay-go/backstay"
)

// untouched are the services that no policy acts on: they tell how a server
// does, and so must be reached when nothing else is.
var untouched = []string{
	"/grpc.health.v1.Health/",
	"/grpc.reflection.v1.ServerReflection/",
	"/grpc.reflection.v1alpha.ServerReflection/",
}

// methods is a set of methods: "/pkg.Service/Method" is one, "/pkg.Service/"
// all of a service.
type methods map[string]bool

// has reports whether method, or all of its service, is in the set.
func (s methods) has(method string) bool {
	if len(s) == 0 {
		return false
	}
	service, _ := cutMethod(method)
	return s[method] || s[service]
}

// add puts names into the set, which it makes if there is none.
func (s *methods) add(names []string) {
	if *s == nil {
		*s = make(methods)
	}
	for _, name := range names {
		(*s)[name] = true
	}
}

// validate returns a fault for every name that can match nothing.
func (s methods) validate(path string) error {
	var settings []backstay.Setting
	for name := range s {
		service, method := cutMethod(name)
		settings = append(settings, backstay.Setting{
			Path: fmt.Sprintf("%s[%q]", path, name), Value: name,
			Valid:   len(service) > 2 && service[0] == '/' && !strings.Contains(method, "*"),
			Allowed: `must be a full method, "/pkg.Service/Method", or a service, "/pkg.Service/"`,
		})
	}
	return backstay.Check(settings...)
}

// cutMethod cuts "/pkg.Service/Method" after the service and its slash.
func cutMethod(full string) (service, method string) {
	i := strings.LastIndexByte(full, '/') + 1
	return full[:i], full[i:]
}

// level returns what the method's .proto says of its repetition, if the file
// is linked into the program.
func level(method string) descriptorpb.MethodOptions_IdempotencyLevel {
	name := strings.ReplaceAll(strings.TrimPrefix(method, "/"), "/", ".")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
	}
	options, _ := found.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel()
}

// repetition is what is known of the methods of a target.
type repetition struct {
	reads, idempotent methods
}

// safe reports whether method only reads.
func (r *repetition) safe(method string) bool {
	return r.reads.has(method) || level(method) == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

// mayRepeat reports whether a call of method has the same effect once and twice.
func (r *repetition) mayRepeat(method string) bool {
	return r.reads.has(method) || r.idempotent.has(method) ||
		level(method) != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}
