package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/middleware"
	"github.com/backstay-go/backstay/middleware/console"
)

func anybody(*http.Request) bool { return true }

// token returns the one in the page; "" if there is none.
func token(t *testing.T, c http.Handler) string {
	t.Helper()
	m := regexp.MustCompile(`name="token" content="([^"]*)"`).FindStringSubmatch(get(c, "/").Body.String())
	if m == nil {
		t.Fatal("the page has no place for a token")
	}
	return m[1]
}

// forge makes a request as the page makes it.
func forge(token, body string) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "http://console.test/act", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("X-Console-Token", token)
	return req
}

func act(c http.Handler, req *http.Request) (status int, body string) {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, req)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func TestAnActionIsDoneAtOnce(t *testing.T) {
	c := made(t, console.Config{}, console.WithActions(anybody))
	r := shown(t, c, touchy("payments"), "host")
	id, key := state(t, c, "").Rows[0].ID, token(t, c)
	for _, step := range []struct{ action, state string }{
		{"force-open", "forced-open"}, {"force-closed", "forced-closed"}, {"metrics-only", "metrics-only"}, {"reset", "closed"},
	} {
		status, body := act(c, forge(key, fmt.Sprintf(`{"id": %q, "action": %q}`, id, step.action)))
		if status != http.StatusOK || body != fmt.Sprintf(`{"state":%q}`, step.state) {
			t.Errorf("%s: %d %s", step.action, status, body)
		}
		if got := state(t, c, "").Rows[0].State.Breaker.State; got != step.state {
			t.Errorf("%s: shown as %s", step.action, got)
		}
		refused := call(r, "host", 0, nil)
		if _, ok := errors.AsType[*breaker.OpenError](refused); ok != (step.action == "force-open") {
			t.Errorf("%s: a call gets %v", step.action, refused)
		}
	}
	if r.Len() != 1 {
		t.Errorf("%d pipelines", r.Len())
	}
}

// What is not a browser has no origin to tell of; its token decides.
func TestAScriptMayAct(t *testing.T) {
	c := made(t, console.Config{}, console.WithActions(anybody))
	shown(t, c, touchy("payments"), "host")
	req := forge(token(t, c), fmt.Sprintf(`{"id": %q, "action": "force-open"}`, state(t, c, "").Rows[0].ID))
	req.Header.Del("Sec-Fetch-Site")
	if status, says := act(c, req); status != http.StatusOK {
		t.Errorf("%d %q", status, says)
	}
}

func TestAnActionThatIsNotInOrderIsRefusedAndSaysWhy(t *testing.T) {
	permitted := true
	c := made(t, console.Config{}, console.WithActions(func(*http.Request) bool { return permitted }))
	shown(t, c, touchy("payments"), "host")
	bare := shown(t, c, middleware.Target{Name: "bare"}, "host")
	rows := state(t, c, "").Rows
	key := token(t, c)
	body := func(name, action string) string {
		for _, r := range rows {
			if r.Name == name {
				return fmt.Sprintf(`{"id": %q, "action": %q}`, r.ID, action)
			}
		}
		return fmt.Sprintf(`{"id": %q, "action": %q}`, name, action)
	}
	good := body("payments", "force-open")
	other, _ := console.New(console.Config{}, console.WithActions(anybody))
	for name, x := range map[string]struct {
		change func(*http.Request)
		body   string
		status int
		says   string
	}{
		"read":                    {func(r *http.Request) { r.Method = http.MethodGet }, good, 405, "only POST"},
		"put":                     {func(r *http.Request) { r.Method = http.MethodPut }, good, 405, "only POST"},
		"from another site":       {header("Sec-Fetch-Site", "cross-site"), good, 403, "another site"},
		"from a sibling":          {header("Sec-Fetch-Site", "same-site"), good, 403, "another site"},
		"from another origin":     {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "http://evil.test") }, good, 403, "another site"},
		"from an opaque origin":   {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") }, good, 403, "another site"},
		"from a form":             {header("Content-Type", "application/x-www-form-urlencoded"), good, 415, "only application/json"},
		"from a form as text":     {header("Content-Type", "text/plain"), good, 415, "only application/json"},
		"without a token":         {func(r *http.Request) { r.Header.Del("X-Console-Token") }, good, 403, "no token"},
		"with a token of another": {header("X-Console-Token", token(t, other)), good, 403, "reload"},
		"with a shorter token":    {header("X-Console-Token", key[:len(key)-4]), good, 403, "reload"},
		"with no base64":          {header("X-Console-Token", "!"), good, 403, "reload"},
		"of a pipeline not there": {nil, body("nobody", "reset"), 404, "gone"},
		"of a pipeline without":   {nil, body("bare", "reset"), 409, "has no breaker"},
		"not known":               {nil, body("payments", "explode"), 400, "the body must be"},
		"without a body":          {nil, "", 400, "the body must be"},
		"with more than it needs": {nil, `{"id": "x", "action": "reset", "more": 1}`, 400, "the body must be"},
		"twice":                   {nil, good + good, 400, "the body must be"},
		"without end":             {nil, `{"id": "` + strings.Repeat("x", 1<<20) + `", "action": "reset"}`, 400, "the body must be"},
	} {
		req := forge(key, x.body)
		if x.change != nil {
			x.change(req)
		}
		if status, says := act(c, req); status != x.status || !strings.Contains(says, x.says) {
			t.Errorf("an action %s: %d %q, want %d %q", name, status, says, x.status, x.says)
		}
	}
	permitted = false
	if status, says := act(c, forge(key, good)); status != http.StatusForbidden || !strings.Contains(says, "you may watch, and not act") {
		t.Errorf("without permission: %d %q", status, says)
	}
	for _, row := range state(t, c, "").Rows {
		if row.Name == "payments" && row.State.Breaker.State != "closed" {
			t.Errorf("the breaker is %s", row.State.Breaker.State)
		}
	}
	if bare.Get("host", backstay.Now()).Breaker() != nil {
		t.Error("a breaker has come about")
	}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestThePageHasATokenOnlyForThoseWhoMayAct(t *testing.T) {
	off := made(t, console.Config{})
	if got := token(t, off); got != "" || state(t, off, "").Actions {
		t.Errorf("actions are off, and the token is %q", got)
	}
	if status, says := act(off, forge("", `{}`)); status != http.StatusForbidden || !strings.Contains(says, "actions are off") {
		t.Errorf("%d %q", status, says)
	}
	some := made(t, console.Config{}, console.WithActions(func(r *http.Request) bool { return r.Header.Get("User") == "admin" }))
	if got := token(t, some); got != "" || state(t, some, "").Actions {
		t.Errorf("nobody's token is %q", got)
	}
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req.Header.Set("User", "admin")
	w := httptest.NewRecorder()
	some.ServeHTTP(w, req)
	if strings.Contains(w.Body.String(), `name="token" content=""`) {
		t.Error("the admin has no token")
	}
	all := made(t, console.Config{}, console.WithActions(anybody))
	if first, second := token(t, all), token(t, all); first == "" || first == second {
		t.Errorf("the tokens of two pages are %q and %q", first, second)
	}
}
