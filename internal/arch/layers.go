package arch

import "strings"

// Module is the path of the module.
const Module = "github.com/backstay-go/backstay"

// Package is a row of the table of layers.
type Package struct {
	// Path is the folder; "." is the root, and a trailing "/..." means
	// everything below.
	Path string
	// Layer is 0 to 4: a package may import those of lower layers, and never
	// another one of its own.
	Layer int
	// ThirdParty are the prefixes of the import paths it may use beside the
	// standard library.
	ThirdParty []string
}

const (
	backoff   = "github.com/cenkalti/backoff/v4"
	gobreaker = "github.com/sony/gobreaker/v2"
	xsync     = "golang.org/x/sync"
	xtime     = "golang.org/x/time"
	rapid     = "pgregory.net/rapid"
)

// testkit is what the tests of all layers share.
const testkit = "internal/testkit"

// top is the layer of programs, which may import everything.
const top = 4

// Layers is the table. Packages below an internal folder, and those named like
// httpmwtest, belong to the package they serve and need no row.
var Layers = []Package{
	// The vocabulary, and what serves several packages: the standard library
	// only. The root imports nothing of ours, the others only the root.
	{Path: ".", Layer: 0},
	{Path: "internal/arch", Layer: 0},
	{Path: "internal/drain", Layer: 0},
	{Path: "internal/keyed", Layer: 0},
	{Path: "internal/lazyctx", Layer: 0},
	{Path: testkit, Layer: 0},
	{Path: "internal/window", Layer: 0},
	{Path: "actors/inspect", Layer: 0}, // how a node of actors is, in plain data
	{Path: "actors/journal", Layer: 0}, // the port that logs of actors implement
	{Path: "internal/guard", Layer: 0},
	{Path: "internal/hook", Layer: 0},
	{Path: "internal/wire", Layer: 0},

	// The policies.
	{Path: "timeout", Layer: 1},
	{Path: "deadline", Layer: 1},
	{Path: "retry", Layer: 1, ThirdParty: []string{backoff}},
	{Path: "breaker", Layer: 1, ThirdParty: []string{gobreaker}},
	{Path: "bulkhead", Layer: 1, ThirdParty: []string{xsync, xtime}}, // xsync in tests: the yardstick
	{Path: "hedge", Layer: 1},
	{Path: "fallback", Layer: 1, ThirdParty: []string{xsync}},
	{Path: "idempotency", Layer: 1},
	{Path: "actors/memory", Layer: 1}, // a log that needs nothing but the port; the tests of actors run on it

	// What composes them.
	{Path: "middleware", Layer: 2},
	{Path: "actors", Layer: 2},

	// The protocols and systems, each with its one third party.
	{Path: "middleware/httpmw", Layer: 3},
	{Path: "middleware/grpcmw", Layer: 3, ThirdParty: []string{"google.golang.org/grpc", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/protobuf"}},
	{Path: "middleware/otelmw", Layer: 3, ThirdParty: []string{"go.opentelemetry.io/otel"}},
	{Path: "middleware/slogmw", Layer: 3},
	{Path: "middleware/policyfile", Layer: 3, ThirdParty: []string{"go.yaml.in/yaml/v4"}},
	{Path: "middleware/chaos", Layer: 3},
	{Path: "middleware/console", Layer: 3},
	{Path: "actors/admin", Layer: 3},
	{Path: "actors/kafka", Layer: 3, ThirdParty: []string{"github.com/IBM/sarama"}},
	{Path: "actors/redis", Layer: 3, ThirdParty: []string{"github.com/redis/go-redis/v9"}},
	{Path: "idempotency/redis", Layer: 3, ThirdParty: []string{"github.com/redis/go-redis/v9"}},

	// The programs.
	{Path: "cmd/...", Layer: top},
	{Path: "examples/...", Layer: top},
	{Path: "internal/kafkaflag", Layer: top, ThirdParty: []string{"github.com/IBM/sarama", "github.com/xdg-go/scram"}}, // what they have in common of their command lines
}

// pure are the packages that have neither goroutines, nor I/O, nor a clock.
var pure = []string{"actors/internal/machine"}

// banned are names that say nothing, and so attract everything.
var banned = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}

// find returns the row of the package at path: its own, or that of the package
// it serves.
func find(rows []Package, path string) (Package, bool) {
	for _, row := range rows {
		prefix, tree := strings.CutSuffix(row.Path, "...")
		if path == row.Path || tree && strings.HasPrefix(path, prefix) {
			return row, true
		}
	}
	if served, _, ok := strings.Cut(path, "/internal/"); ok {
		return find(rows, served)
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 && serves(path) {
		return find(rows, path[:i])
	}
	return Package{}, false
}

// serves reports whether the package at path is there for tests alone.
func serves(path string) bool {
	return strings.HasSuffix(path, "test") || path == testkit
}
