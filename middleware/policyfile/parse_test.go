package policyfile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/bulkhead"
	"github.com/backstay-go/backstay/deadline"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/policyfile"
	"github.com/backstay-go/backstay/retry"
	"github.com/backstay-go/backstay/timeout"
)

// parse returns the target t of a file that says body of it.
func parse(t *testing.T, body string) middleware.Target {
	t.Helper()
	p, err := policyfile.Parse("policies.yaml", []byte("targets: {t: {"+body+"}}"))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return p.Target("t")
}

func TestValuesMeanWhatIsWritten(t *testing.T) {
	for _, c := range []struct {
		body string
		got  func(middleware.Target) any
		want any
	}{
		{"timeout: {after: 250ms}", func(t middleware.Target) any { return t.Timeout.After }, 250 * time.Millisecond},
		{"timeout: {after: 1.5s, abandon: true}", func(t middleware.Target) any { return t.Timeout.After }, 1500 * time.Millisecond},
		{"timeout: {after: off}", func(t middleware.Target) any { return t.Timeout.After }, timeout.Off},
		{"timeout: off", func(t middleware.Target) any { return t.Timeout == nil }, true},
		{"hedge: on", func(t middleware.Target) any { return t.Hedge != nil }, true},
		{"hedge: {}", func(t middleware.Target) any { return t.Hedge != nil }, true},
		{"hedge: {delay: live}", func(t middleware.Target) any { return t.Hedge.Delay }, time.Duration(0)},
		{"deadline: {total: off}", func(t middleware.Target) any { return t.Deadline.Total }, deadline.NoTotal},
		{"deadline: {reserve: 0}", func(t middleware.Target) any { return t.Deadline.Reserve }, time.Duration(0)},
		{"retry: {base: 0s}", func(t middleware.Target) any { return t.Retry.Base }, retry.NoWait},
		{"retry: {base: off}", func(t middleware.Target) any { return t.Retry.Base }, retry.NoWait},
		{"retry: {max_server_wait: 0}", func(t middleware.Target) any { return t.Retry.MaxServerWait }, retry.NoWait},
		{"retry: {min_attempt_time: 0s}", func(t middleware.Target) any { return t.Retry.MinAttemptTime }, time.Nanosecond},
		{"retry: {budget: off}", func(t middleware.Target) any { return t.Retry.Budget }, retry.NoBudget},
		{"retry: {budget: {ratio: 20%}}", func(t middleware.Target) any { return t.Retry.Budget.Ratio }, 0.2},
		{"retry: {budget: {ratio: 0.2}}", func(t middleware.Target) any { return t.Retry.Budget.Ratio }, 0.2},
		{"retry: {budget: {burst: 0}}", func(t middleware.Target) any { return t.Retry.Budget.Burst }, retry.NoBurst},
		{"breaker: {failure_ratio: off, consecutive: 5}", func(t middleware.Target) any { return t.Breaker.FailureRatio }, float64(breaker.NoFailureRatio)},
		{"bulkhead: {limit: off}", func(t middleware.Target) any { return t.Bulkhead.Limit }, int64(bulkhead.Unlimited)},
		{"bulkhead: {limit: 1_000}", func(t middleware.Target) any { return t.Bulkhead.Limit }, int64(1000)},
		{"bulkhead: {max_queue: 0}", func(t middleware.Target) any { return t.Bulkhead.MaxQueue }, 0},
		{"bulkhead: {adaptive: {algorithm: aimd}}", func(t middleware.Target) any { return t.Bulkhead.Adaptive.Algorithm }, bulkhead.AIMD},
		{"http: {replay_limit: 1MiB}", func(t middleware.Target) any { return t.HTTP.ReplayLimit }, int64(1 << 20)},
		{"http: {replay_limit: 1.5 kB}", func(t middleware.Target) any { return t.HTTP.ReplayLimit }, int64(1500)},
		{"http: {replay_limit: 0}", func(t middleware.Target) any { return t.HTTP.ReplayLimit }, int64(middleware.NoReplay)},
		{"propagate: {hosts: pay.example.com}", func(t middleware.Target) any { return t.Propagate.Hosts }, []string{"pay.example.com"}},
		{"extends: internal, propagate: {hosts: []}", func(t middleware.Target) any { return len(t.Propagate.Hosts) }, 0},
	} {
		if got := c.got(parse(t, c.body)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.body, got, c.want)
		}
	}
}

func TestATargetThatSaysNothingIsTheStandard(t *testing.T) {
	for body, want := range map[string]middleware.Target{
		"":                  middleware.Standard("t"),
		"extends: internal": middleware.Internal("t"),
		"extends: reads":    middleware.Reads("t"),
		"extends: none":     {Name: "t"},
	} {
		if got := parse(t, body); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", body, got, want)
		}
	}
}

func TestProfilesAreMergedValueByValue(t *testing.T) {
	const text = `
profiles:
  a:
    retry: {max_attempts: 5, budget: off}
    hedge: {max_copies: 2}
    propagate: {hosts: [x, y]}
    breaker: {window: 50}
  b:
    extends: a
    retry: {base: 10ms}
    hedge: off
    propagate: {hosts: [z]}
    breaker: {window: off, time_window: 1m}
targets:
  t: {extends: b, retry: {budget: {ratio: 5%}}, hedge: on}
`
	p, err := policyfile.Parse("policies.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := p.Target("t")
	if r := got.Retry; r.MaxAttempts != 5 || r.Base != 10*time.Millisecond || r.Budget.Off || r.Budget.Ratio != 0.05 {
		t.Errorf("retry is %+v", r)
	}
	if got.Hedge.MaxCopies != 0 {
		t.Errorf("off did not take away what was set: %+v", got.Hedge)
	}
	if !reflect.DeepEqual(got.Propagate.Hosts, []string{"z"}) {
		t.Errorf("a list did not replace a list: %v", got.Propagate.Hosts)
	}
	if b := got.Breaker; b.Window != 0 || b.TimeWindow != time.Minute {
		t.Errorf("the window is %+v", b)
	}
}

func TestAProfileIsJudgedTogetherWithItsTarget(t *testing.T) {
	const text = "profiles: {slow: {timeout: {after: 20s}}}\ntargets: {t: {extends: slow, deadline: {total: 1m}}}"
	if _, err := policyfile.Parse("policies.yaml", []byte(text)); err != nil {
		t.Errorf("alone it would contradict the default, but it is not alone: %v", err)
	}
}

func TestFaultsOfFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "f.yaml:1:1: file is empty"},
		{"a comment only", "# nothing\n", "f.yaml:1:1: file is empty"},
		{"a text", "hello", "f.yaml:1:1: hello is not a mapping"},
		{"no targets", "profiles: {a: {}}", "f.yaml:1:1: targets: there are no targets"},
		{"two documents", "targets: {a: on}\n---\ntargets: {b: on}\n", "another document begins"},
		{"a key of the top", "target: {a: on}", "f.yaml:1:1: target: unknown key (did you mean targets?)"},
		{"a key that only targets have", "server: {mtch: {host: a}}", "server.mtch: unknown key (known: name, deadline, timeout, bulkhead, priority_header, idempotency, key_header, retry_nested, extends)"},
		{"a URL of a host", "targets: {a: {match: {host: \"https://pay.example.com:8443/v1/\"}}}", "is a URL, not a host (did you mean pay.example.com:8443?)"},
		{"what a gRPC connection is dialled by", "targets: {a: {match: {host: \"dns:///stock:443\"}}}", "dns:///stock:443 is a URL, not a host (did you mean stock:443?)"},
		{"a URL of no host", "targets: {a: {match: {host: \"https://\"}}}", "is a URL, not a host (such as pay.example.com"},
		{"a merge key", "targets:\n  a: {<<: {retry: on}}", "f.yaml:2:7: targets.a.<<: merge keys are not supported"},
		{"a key that is a list", "targets:\n  ? [a]\n  : on", "f.yaml:2:5: targets: a list cannot be a key"},
		{"a key twice, the second time quoted", "targets:\n  a: on\n  \"a\": on", "f.yaml:3:3: targets.a: key is there already, in line 2"},
		{"a name with spaces", "targets: {a b: on}", `"a b" is not a name`},
		{"a section that is nothing", "targets:\n  a:\n    retry:\n", "targets.a.retry: nothing is not a mapping (write on for the defaults, off to leave it out"},
		{"a section that is a list", "targets: {a: {retry: [1]}}", "a list is not a mapping"},
		{"a section that cannot be off", "targets: {a: {keys: off}}", "off is not a mapping (write {name: value}; known: max, idle_after)"},
		{"no unit", "targets: {a: {timeout: {after: 250}}}", "250 has no unit (did you mean 250ms, or 250s?)"},
		{"a unit with a space", "targets: {a: {timeout: {after: 250 MS}}}", "did you mean 250ms?"},
		{"a whole number with a fraction", "targets: {a: {retry: {max_attempts: 2.5}}}", "2.5 is not a whole number"},
		{"no number", "targets: {a: {retry: {multiplier: .nan}}}", ".nan is not a number"},
		{"an infinite number", "targets: {a: {retry: {multiplier: .inf}}}", ".inf is not a number"},
		{"a percentage beyond", "targets: {a: {breaker: {failure_ratio: 140%}}}", "140% is not allowed"},
		{"no share at all", "targets: {a: {breaker: {failure_ratio: 0}}}", "0 is not allowed (write off to switch it off; else it must be above 0% and at most 100%)"},
		{"all, where less is meant", "targets: {a: {hedge: {percentile: 100%}}}", "must be above 0% and below 100%"},
		{"a name that is nearly one", "targets: {a: {timeout: {after: of}}}", "of is not a duration (did you mean off?)"},
		{"a quoted flag", `targets: {a: {timeout: {abandon: "true"}}}`, "true is not true or false (write true)"},
		{"a choice", "targets: {a: {bulkhead: {adaptive: {algorithm: gradiant}}}}", "did you mean gradient?"},
		{"what has no default", "targets: {a: {bulkhead: {rate: on}}}", "bulkhead.rate: per_second is missing"},
		{"a chain that bites its tail", "profiles: {a: {extends: b}, b: {extends: a}}\ntargets: {t: {extends: a}}", "extends itself"},
		{"a limit below the adaptive one", "server: {bulkhead: {limit: 2}}", "f.yaml:1:28: server.bulkhead.limit: 2 contradicts other values (adaptive.min is 4, from standard; or write adaptive: off)"},
		{"a limit above the adaptive one", "targets: {a: {bulkhead: {limit: 9, adaptive: {max: 8}}}}", "9 contradicts other values (adaptive.max is 8; or write adaptive: off)"},
		{"a timeout without a unit", "targets: {a: {timeout: 500}}", "targets.a.timeout: 500 has no unit (did you mean 500ms, or 500s?)"},
		{"a timeout that is a list", "targets: {a: {timeout: [1s]}}", "targets.a.timeout: a list is not a mapping (write on for the defaults, off to leave it out, a duration, or {name: value})"},
		{"the built-in target", "targets: {unmatched: on}", "unmatched is built in: the target of calls that belong to no other (choose another name"},
		{"a built-in profile", "profiles: {reads: {}}\ntargets: {t: on}", "reads is a built-in profile"},
		{"match in a profile", "profiles: {a: {match: {host: x}}}\ntargets: {t: on}", "profiles.a.match: key does not belong here"},
		{"an unused profile", "profiles: {a: {deadline: {total: 1s}, timeout: {after: 2s}}}\ntargets: {t: on}", "profiles.a.timeout.after: 2s contradicts other values"},
		{"a profile that contradicts its target", "profiles: {p: {timeout: {after: 2s}}}\ntargets: {t: {extends: p, deadline: {total: 1s}}}", "profiles.p.timeout.after: 2s contradicts other values [in target t]"},
		{"a window of both kinds", "targets: {t: {breaker: {window: 10, time_window: 1m}}}", "switch one of window and time_window off"},
		{"a window of buckets", "targets: {t: {breaker: {buckets: 5}}}", "set time_window, or switch buckets off"},
		{"a short time window", "targets: {t: {breaker: {time_window: 3s}}}", "write at least 4s"},
		{"attempts that never fit", "targets: {t: {retry: {max_attempts: 10, base: 4s, cap: 4s}}}", "allow 5 attempts"},
		{"a delay that is too long", "targets: {t: {hedge: {delay: 2s}}}", "must be less than timeout.after"},
		{"hedged deletes", "targets: {t: {match: {method: [GET, DELETE]}, hedge: on}}", "hedging would send DELETE twice"},
		{"hedged gRPC", "targets: {t: {match: {grpc: a.B}, hedge: on}}", "hedging would send a.B/* twice"},
		{"a match of nothing", "targets: {t: {match: {}}}", `write host: "*" to match everything`},
		{"a match of two kinds", "targets: {t: {match: {grpc: a.B, method: GET}}}", "leave method and route out"},
		{"a method in small letters", "targets: {t: {match: {method: get}}}", "get is not a method (did you mean GET?)"},
		{"a route without its slash", "targets: {t: {match: {route: v1}}}", "v1 is not a route"},
		{"a route that goes on after its rest", "targets: {t: {match: {route: '/{a...}/b'}}}", "put it last"},
		{"a route with half a parameter", "targets: {t: {match: {route: '/a{b}'}}}", "is not a segment"},
		{"two targets for the same", "targets: {a: {match: {route: '/x/{a}'}}, b: {match: {route: '/x/{b}'}}}", "targets.b.match: target a matches the same requests"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := policyfile.Parse("f.yaml", []byte(c.text))
			e, ok := errors.AsType[*policyfile.Error](err)
			if !ok || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			if len(e.Faults) != 1 && c.name != "a chain that bites its tail" {
				t.Errorf("one fault is told as %d:\n%v", len(e.Faults), err)
			}
			for i := range e.Faults {
				if e.Faults[i].Line == 0 || e.Faults[i].Suggestion == "" && e.Faults[i].Path != "targets" {
					t.Errorf("no line or no suggestion: %v", &e.Faults[i])
				}
			}
		})
	}
}

func TestJSONIsHeldToJSON(t *testing.T) {
	good := "{\n\t\"targets\": {\"a\": {\"retry\": {\"max_attempts\": 2}, \"match\": {\"route\": \"\\/v1\"}}}\n}"
	if _, err := policyfile.Parse("policies.json", []byte(good)); err != nil {
		t.Errorf("good JSON: %v", err)
	}
	_, err := policyfile.Parse("policies.json", []byte("{\n  \"targets\": {\"a\": \"on\",}\n}"))
	if err == nil || !strings.HasPrefix(err.Error(), "policies.json:2:25: not JSON") {
		t.Errorf("a comma too many: %v", err)
	}
	_, err = policyfile.Parse("policies.json", []byte(`{"targets": {"a": {"retry": {"budget": {"ratio": 2}}}}}`))
	if err == nil || !strings.HasPrefix(err.Error(), "policies.json:1:50: targets.a.retry.budget.ratio: 2 is not allowed") {
		t.Errorf("a fault: %v", err)
	}
}

func TestAnchorsMayBeUsed(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets:\n  a: &a {retry: {max_attempts: 2}}\n  b: *a\n"))
	if err != nil || p.Target("b").Retry.MaxAttempts != 2 {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatIsTooLong(t *testing.T) {
	_, err := policyfile.Parse("policies.yaml", []byte(strings.Repeat("# filler\n", 1<<17)))
	if err == nil || !strings.Contains(err.Error(), "at most 1MiB") {
		t.Errorf("got %v", err)
	}
}

func TestAnUnknownTargetCannotBeBuilt(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets: {payments: on}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Lookup("paymets"); ok {
		t.Error("it is found")
	}
	_, err = middleware.New(p.Target("paymets"))
	if err == nil || !strings.Contains(err.Error(), "policies.yaml has no target paymets; did you mean payments?") {
		t.Errorf("got %v", err)
	}
}

func TestATargetIsTheCallersOwn(t *testing.T) {
	p, err := policyfile.Parse("policies.yaml", []byte("targets: {a: {propagate: {hosts: [x]}, bulkhead: {rate: {per_second: 1}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	first := p.Target("a")
	first.Propagate.Hosts[0], first.Bulkhead.Rate.PerSecond = "spoiled", 7
	if second := p.Target("a"); second.Propagate.Hosts[0] != "x" || second.Bulkhead.Rate.PerSecond != 1 {
		t.Error("a change of one target shows in the next")
	}
}

// What extends nothing that is known is told with all that is wrong beside it,
// and not with what the missing profile may have mended.
func TestAnUnknownProfileHidesNoOtherFault(t *testing.T) {
	const text = `profiles:
  slow:
    extends: standrad
    retry: {max_attempts: 2.5}
targets:
  a:
    extends: slow
    timeout: {after: 2s}
    deadline: {total: 1s}
  b:
    extends: fast
    timeout: {after: 20s}
    bulkhead: {limt: 1}
  c:
    retry: {base: 250}
server:
  extends: reads
  timeout: 1
`
	_, err := policyfile.Parse("f.yaml", []byte(text))
	want := []string{
		"f.yaml:3:14: profiles.slow.extends: there is no profile standrad",
		"f.yaml:4:27: profiles.slow.retry.max_attempts: 2.5 is not a whole number",
		"f.yaml:8:22: targets.a.timeout.after: 2s contradicts other values",
		"f.yaml:11:14: targets.b.extends: there is no profile fast",
		"f.yaml:13:16: targets.b.bulkhead.limt: unknown key",
		"f.yaml:15:19: targets.c.retry.base: 250 has no unit",
		"f.yaml:17:12: server.extends: there is no server reads to extend",
		"f.yaml:18:12: server.timeout: 1 has no unit",
	}
	e, ok := errors.AsType[*policyfile.Error](err)
	if !ok || len(e.Faults) != len(want) {
		t.Fatalf("got %v", err)
	}
	for i := range want {
		if got := e.Faults[i].Error(); !strings.HasPrefix(got, want[i]) {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
}
