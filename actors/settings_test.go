package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/memory"
	"github.com/backstay-go/backstay/retry"
)

// paths are those of the field errors that are joined in err.
func paths(err error) string {
	var all []string
	for line := range strings.Lines(err.Error()) {
		path, _, _ := strings.Cut(line, ":")
		all = append(all, path)
	}
	return strings.Join(all, " ")
}

func TestSettingsTellAllTheirFaultsAtOnce(t *testing.T) {
	bad := actors.Settings{
		Retry:       retry.Config{MaxAttempts: -1, Multiplier: 0.5, MaxServerWait: time.Second, MinAttemptTime: time.Second, RetryNested: true, Budget: retry.BudgetConfig{Burst: 1}},
		StepTimeout: -1, BusyTimeout: -1, IdleAfter: -1, Mailbox: -1,
	}
	const want = "retry.max_attempts retry.multiplier retry.max_server_wait retry.min_attempt_time retry.retry_nested retry.budget step_timeout busy_timeout idle_after mailbox"
	if got := paths(bad.Validate()); got != want {
		t.Errorf("got %s", got)
	}
	if err := (actors.Settings{}).Validate(); err != nil {
		t.Error(err)
	}
	_, h := does("m", func(context.Context, self, none) (none, error) { return none{}, nil })
	other := actors.NewType[none]("other")
	_, err := actors.Open(t.Context(), actors.Config{Window: time.Millisecond}, memory.New(),
		actors.Host(Thing, bad, h), actors.Host(other, actors.Settings{Mailbox: -1}), actors.Hosting{})
	if err == nil {
		t.Fatal("it opened")
	}
	if f, ok := errors.AsType[*backstay.FieldError](err); !ok || f.Path != "window" {
		t.Errorf("%+v", f)
	}
	for _, words := range []string{"thing.retry.max_attempts: -1", "the default of 5", "thing.mailbox", "other.mailbox", `"other" is hosted without a method`, "made with Host"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("it does not say %q: %v", words, err)
		}
	}
}

func TestSettingsHaveNamesInFiles(t *testing.T) {
	var s actors.Settings
	err := json.Unmarshal([]byte(`{"retry": {"max_attempts": 7}, "step_timeout": 1000, "busy_timeout": 2000, "idle_after": 3000, "mailbox": 4, "cancel_orphans": true, "strict_begin": true}`), &s)
	want := actors.Settings{Retry: retry.Config{MaxAttempts: 7}, StepTimeout: 1000, BusyTimeout: 2000, IdleAfter: 3000, Mailbox: 4, CancelOrphans: true, StrictBegin: true}
	if err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestWhatIsHostedTwiceIsRefused(t *testing.T) {
	_, h := does("m", func(context.Context, self, none) (none, error) { return none{}, nil })
	_, err := actors.Open(t.Context(), actors.Config{}, memory.New(), actors.Host(Thing, actors.Settings{}, h, h), actors.Host(Thing, actors.Settings{}, h))
	if err == nil || !strings.Contains(err.Error(), "thing.m has two handlers") || !strings.Contains(err.Error(), `"thing" is hosted twice`) {
		t.Error(err)
	}
}

func TestANodeNeedsALogThatHasItsTypes(t *testing.T) {
	_, h := does("m", func(context.Context, self, none) (none, error) { return none{}, nil })
	if _, err := actors.Open(t.Context(), actors.Config{}, nil, actors.Host(Thing, actors.Settings{}, h)); err == nil {
		t.Error("it opened without one")
	}
	_, err := actors.Open(t.Context(), actors.Config{}, without{memory.New(), "thing"}, actors.Host(Thing, actors.Settings{}, h))
	if !errors.Is(err, actors.ErrNoType) {
		t.Error(err)
	}
}

func TestBadNamesPanicWhereTheyAreWritten(t *testing.T) {
	long := strings.Repeat("x", 101)
	for what, write := range map[string]func(){
		"an empty type":         func() { actors.NewType[none]("") },
		"a type with capitals":  func() { actors.NewType[none]("Account") },
		"a type with a dot":     func() { actors.NewType[none]("a.b") },
		"a long type":           func() { actors.NewType[none](long) },
		"an empty method":       func() { actors.Declare[none, none](Thing, "") },
		"a method with a space": func() { actors.Declare[none, none](Thing, "a b") },
		"a query with a slash":  func() { actors.DeclareQuery[none, none](Thing, "a/b") },
		"an empty value":        func() { actors.NewValue[int](Thing, "") },
		"a value with a slash":  func() { actors.NewValue[int](Thing, "a/b") },
		"a map that is no text": func() { actors.NewMap[string, int](Thing, "\xff") },
		"version 0": func() {
			actors.NewValue(Thing, "v", actors.Version(0, func(int, []byte) (int, error) { return 0, nil }))
		},
		"version 2 without upcast": func() { actors.NewValue(Thing, "v", actors.Version[int](2, nil)) },
		"an error without a code":  func() { _ = actors.RegisterError("", errEmpty) },
		"a code without an error":  func() { _ = actors.RegisterError("nothing", nil) },
		"a code with a space":      func() { _ = actors.RegisterError("a b", errEmpty) },
		"a code for two errors":    func() { _ = actors.RegisterError("thing.empty", errors.New("another")) },
	} {
		func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "actors: ") {
					t.Errorf("%s: %v", what, text)
				}
			}()
			write()
			t.Errorf("%s was taken", what)
		}()
	}
	if actors.RegisterError("thing.empty", errEmpty) != errEmpty { //nolint:errorlint // the very same
		t.Error("an error cannot be registered again under its own code")
	}
}
