package arch_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/backstay-go/backstay/internal/arch"
)

// tree makes a module of files, each given by its name and what it contains.
func tree(files map[string]string) fs.FS {
	m := fstest.MapFS{"go.mod": {Data: []byte("module " + arch.Module)}}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// file is the text of a file that imports paths; "@" stands for the module.
func file(pkg string, paths ...string) string {
	var b strings.Builder
	b.WriteString("package " + pkg + "\n\nimport (\n")
	for _, p := range paths {
		b.WriteString("\t_ \"" + strings.Replace(p, "@", arch.Module, 1) + "\"\n")
	}
	b.WriteString(")\n")
	return b.String()
}

func TestWhatIsAllowed(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"the root uses the standard library":                {"exchange.go": file("backstay", "context", "net/http")},
		"a package under internal uses the root":            {"internal/keyed/map.go": file("keyed", "@", "sync")},
		"a policy uses layer 0":                             {"retry/run.go": file("retry", "@", "@/internal/wire")},
		"a policy uses its third party":                     {"retry/backoff.go": file("retry", "github.com/cenkalti/backoff/v4")},
		"a part of its third party":                         {"bulkhead/fixed.go": file("bulkhead", "golang.org/x/sync/semaphore")},
		"its external tests use the package itself":         {"retry/run_test.go": file("retry_test", "@/retry", "testing")},
		"its tests use testkit":                             {"retry/run_test.go": file("retry", "@/internal/testkit")},
		"its tests use rapid":                               {"retry/run_test.go": file("retry", "pgregory.net/rapid")},
		"a test of layer 0 uses testkit":                    {"internal/keyed/map_test.go": file("keyed_test", "@/internal/testkit", "@/internal/keyed")},
		"testkit uses the root and testing":                 {"internal/testkit/fake.go": file("testkit", "@", "testing")},
		"middleware uses all policies":                      {"middleware/run.go": file("middleware", "@/retry", "@/hedge", "@/internal/keyed")},
		"a part of actors uses another":                     {"actors/internal/runtime/shell.go": file("runtime", "@/actors/internal/machine", "@/actors", "sync")},
		"actors uses its parts":                             {"actors/node.go": file("actors", "@/actors/internal/runtime")},
		"a protocol uses what lies below":                   {"middleware/httpmw/transport.go": file("httpmw", "@/middleware", "@/retry", "@", "net/http")},
		"a system uses its third party":                     {"actors/kafka/log.go": file("kafka", "@/actors", "github.com/IBM/sarama")},
		"a package for tests uses what it serves":           {"middleware/httpmw/httpmwtest/fault.go": file("httpmwtest", "@/middleware/httpmw", "testing")},
		"a package for tests uses testkit":                  {"idempotency/idempotencytest/suite.go": file("idempotencytest", "@/internal/testkit")},
		"tests use the conformance suite of a lower layer":  {"idempotency/redis/store_test.go": file("redis_test", "@/idempotency/idempotencytest")},
		"tests use the conformance suite of their own part": {"idempotency/memory_test.go": file("idempotency_test", "@/idempotency/idempotencytest")},
		"a program uses everything":                         {"cmd/backstay/main.go": file("main", "@/actors/kafka", "@/middleware/httpmw", "example.com/anything")},
		"an example lies as deep as it likes":               {"examples/chain/b/main.go": file("main", "@/middleware")},
		"another module within is not looked at":            {"bench/go.mod": "module bench", "bench/peers.go": file("bench", "github.com/failsafe-go/failsafe-go")},
		"nor is what the go command passes over":            {"retry/testdata/x.go": file("util", "example.com/x"), ".ci/x.go": file("x", "example.com/x"), "_x/x.go": file("x", "example.com/x")},
		"a pure package tells durations":                    {"actors/internal/machine/step.go": "package machine\n\nimport \"time\"\n\nconst lease = time.Second\n\nvar now time.Time\n"},
		"tests of a pure package do what they like":         {"actors/internal/machine/step_test.go": "package machine\n\nimport (\n\t\"sync\"\n\t\"time\"\n)\n\nfunc f() { go time.Now(); sync.OnceFunc(nil) }\n"},
		"another package may read the clock":                {"actors/internal/runtime/shell.go": "package runtime\n\nimport \"time\"\n\nfunc f() { go time.Now() }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			faults, err := arch.Check(tree(files), arch.Layers)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range faults {
				t.Error(fault)
			}
		})
	}
}

func TestWhatIsNot(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		says             string // the fault, in part
	}{
		{"a package in no layer", "cache/cache.go", file("cache"), "cache is in no layer: decide what it may import, add it to Layers in internal/arch/layers.go"},
		{"a protocol in no layer", "middleware/thriftmw/client.go", file("thriftmw"), "middleware/thriftmw is in no layer"},
		{"a package under internal in no layer", "internal/clock/clock.go", file("clock"), "internal/clock is in no layer"},
		{"a package for the tests of nothing", "contest/x.go", file("contest"), "contest is in no layer"},
		{"the root uses a package of ours", "x.go", file("backstay", "@/internal/wire"), "x.go:4 imports internal/wire: packages of layer 0 do not import each other"},
		{"a package of layer 0 uses another", "internal/keyed/x.go", file("keyed", "@/internal/wire"), "packages of layer 0 do not import each other"},
		{"a package of layer 0 uses a third party", "internal/window/x.go", file("window", "golang.org/x/time/rate"), "imports golang.org/x/time/rate, which internal/window may not use"},
		{"a package of layer 0 uses a policy", "internal/wire/x.go", file("wire", "@/deadline"), "imports deadline of layer 1 from layer 0"},
		{"a policy uses another", "retry/x.go", file("retry", "@/breaker"), "retry/x.go:4 imports breaker: packages of layer 1 do not import each other; what they share belongs in a lower one"},
		{"a test of a policy uses another", "retry/x_test.go", file("retry_test", "@/breaker"), "retry/x_test.go:4 imports breaker: packages of layer 1"},
		{"a policy uses the third party of another", "timeout/x.go", file("timeout", "github.com/sony/gobreaker/v2"), "which timeout may not use"},
		{"a third party whose name begins alike", "breaker/x.go", file("breaker", "github.com/sony/gobreaker/v22"), "which breaker may not use"},
		{"a test of a policy uses a third party", "retry/x_test.go", file("retry_test", "google.golang.org/grpc"), "which retry may not use"},
		{"a policy uses rapid outside of its tests", "retry/x.go", file("retry", "pgregory.net/rapid"), "which retry may not use"},
		{"a policy uses middleware", "retry/x_test.go", file("retry_test", "@/middleware"), "imports middleware of layer 2 from layer 1: turn the dependency round"},
		{"a policy uses the tests of a protocol", "retry/x_test.go", file("retry_test", "@/middleware/httpmw/httpmwtest"), "imports middleware/httpmw/httpmwtest of layer 3 from layer 1"},
		{"a policy uses the tests of another", "retry/x_test.go", file("retry_test", "@/idempotency/idempotencytest"), "packages of layer 1 do not import each other"},
		{"middleware uses actors", "middleware/x.go", file("middleware", "@/actors"), "packages of layer 2 do not import each other"},
		{"a part of actors uses middleware", "actors/internal/runtime/x.go", file("runtime", "@/middleware"), "packages of layer 2 do not import each other"},
		{"middleware uses a protocol", "middleware/x_test.go", file("middleware_test", "@/middleware/httpmw"), "imports middleware/httpmw of layer 3 from layer 2"},
		{"middleware uses otel", "middleware/x.go", file("middleware", "go.opentelemetry.io/otel/trace"), "which middleware may not use"},
		{"a protocol uses another", "middleware/grpcmw/x.go", file("grpcmw", "@/middleware/httpmw"), "packages of layer 3 do not import each other"},
		{"a protocol uses otel", "middleware/httpmw/x.go", file("httpmw", "go.opentelemetry.io/otel"), "which middleware/httpmw may not use"},
		{"a test package uses another protocol", "middleware/httpmw/httpmwtest/x.go", file("httpmwtest", "@/middleware/grpcmw"), "packages of layer 3 do not import each other"},
		{"a package uses testkit outside of its tests", "retry/x.go", file("retry", "@/internal/testkit"), "imports internal/testkit, which is for tests alone"},
		{"a package uses a package for tests", "middleware/httpmw/x.go", file("httpmw", "@/middleware/httpmw/httpmwtest"), "which is for tests alone"},
		{"a package uses testing", "retry/x.go", file("retry", "testing"), "imports testing outside of a test"},
		{"a package uses a part of testing", "retry/x.go", file("retry", "testing/fstest"), "imports testing/fstest outside of a test"},
		{"a program uses testing", "cmd/backstay/x.go", file("main", "testing"), "imports testing outside of a test"},
		{"a folder named util", "actors/internal/util/x.go", file("strings"), `says nothing about what is in a package`},
		{"a package named helpers", "actors/internal/text/x.go", file("helpers"), `"helpers" says nothing`},
		{"the tests of a package named common", "actors/internal/text/x_test.go", file("common_test"), `"common" says nothing`},
		{"a machine with locks", "actors/internal/machine/x.go", file("machine", "sync"), "imports sync, but actors/internal/machine is pure"},
		{"a machine with atomics", "actors/internal/machine/x.go", file("machine", "sync/atomic"), "imports sync/atomic, but"},
		{"a machine with I/O", "actors/internal/machine/x.go", file("machine", "os"), "imports os, but"},
		{"a part of the machine with chance", "actors/internal/machine/lot/x.go", file("lot", "math/rand/v2"), "actors/internal/machine/lot is pure"},
		{"a machine with a goroutine", "actors/internal/machine/x.go", "package machine\n\nfunc f() {\n\tif true {\n\t\tgo f()\n\t}\n}\n", "actors/internal/machine/x.go:5:3 starts a goroutine"},
		{"a machine with a clock", "actors/internal/machine/x.go", "package machine\n\nimport \"time\"\n\nvar t = time.Now()\n", "x.go:5:9 uses time.Now"},
		{"a machine with a clock by another name", "actors/internal/machine/x.go", "package machine\n\nimport tm \"time\"\n\nvar t = tm.NewTimer\n", "uses tm.NewTimer"},
		{"a machine with all of a clock's names", "actors/internal/machine/x.go", "package machine\n\nimport . \"time\"\n\nvar t = Now()\n", "imports all names of time"},
		{"a machine with our clock", "actors/internal/machine/x.go", "package machine\n\nimport \"" + arch.Module + "\"\n\nvar t = backstay.Now()\n", "uses backstay.Now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults, err := arch.Check(tree(map[string]string{c.file: c.text}), arch.Layers)
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || !strings.Contains(faults[0], c.says) || !strings.Contains(faults[0], path.Dir(c.file)) {
				t.Errorf("got %q, want one fault that says %q", faults, c.says)
			}
		})
	}
}

func TestEveryFaultOfAModuleIsToldAtOnce(t *testing.T) {
	faults, err := arch.Check(tree(map[string]string{
		"cache/a.go":   file("cache", "testing"), // without a layer nothing is known about its imports
		"cache/b.go":   file("cache"),
		"retry/a.go":   file("retry", "@/breaker", "@/hedge", "example.com/x"),
		"breaker/a.go": file("breaker", "@/cache"),
	}), arch.Layers)
	if err != nil || len(faults) != 4 {
		t.Errorf("got %q, %v", faults, err)
	}
}

func TestAFileThatDoesNotParseIsAnError(t *testing.T) {
	if _, err := arch.Check(tree(map[string]string{"x.go": "package"}), arch.Layers); err == nil {
		t.Error("no error")
	}
	if _, err := arch.Check(os.DirFS("no such folder"), arch.Layers); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}
