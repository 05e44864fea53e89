package console

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"

	"github.com/backstay-go/backstay/breaker"
)

// tokenHeader is where the page puts its token. A form of another site cannot
// set it.
const tokenHeader = "X-Console-Token"

// maxAction is how long the body of an action may be.
const maxAction = 4 << 10

// action is the body of a POST to act.
type action struct {
	ID     string `json:"id"`
	Action string `json:"action"`
}

// actions are what can be done to a breaker.
var actions = map[string]func(*breaker.Breaker){
	"force-open":   (*breaker.Breaker).ForceOpen,
	"force-closed": (*breaker.Breaker).ForceClosed,
	"metrics-only": (*breaker.Breaker).MetricsOnly,
	"reset":        (*breaker.Breaker).Reset,
}

// permits reports whether the one who asks may act.
func (c *Console) permits(req *http.Request) bool { return c.authorize != nil && c.authorize(req) }

// act does something to a breaker, if everything is in order.
func (c *Console) act(w http.ResponseWriter, req *http.Request) {
	if status, why := c.refusal(req); status != 0 {
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		http.Error(w, "console: "+why, status)
		return
	}
	a, do, ok := readAction(req.Body)
	if !ok {
		http.Error(w, `console: the body must be {"id": ..., "action": "force-open" | "force-closed" | "metrics-only" | "reset"}`,
			http.StatusBadRequest)
		return
	}
	p := c.find(a.ID)
	switch {
	case p == nil:
		http.Error(w, "console: this pipeline is gone", http.StatusNotFound)
	case p.Breaker() == nil:
		http.Error(w, "console: this pipeline has no breaker", http.StatusConflict)
	default:
		do(p.Breaker())
		c.stale()
		answer(w, http.StatusOK, map[string]string{"state": p.Breaker().State().String()})
	}
}

// refusal says why a request must not act; status is 0 if it may. What is asked
// of every page comes first, so that a forged request learns nothing of who may
// act.
func (c *Console) refusal(req *http.Request) (status int, why string) {
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	switch {
	case req.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "only POST"
	case c.origin.Check(req) != nil:
		return http.StatusForbidden, "the request comes from another site"
	case kind != "application/json":
		return http.StatusUnsupportedMediaType, "only application/json"
	case c.authorize == nil:
		return http.StatusForbidden, "actions are off; see console.WithActions"
	case !c.authorize(req):
		return http.StatusForbidden, "you may watch, and not act"
	case req.Header.Get(tokenHeader) == "":
		return http.StatusForbidden, "there is no token: send the one of the page's meta element token as " + tokenHeader
	case !c.seal.made(req.Header.Get(tokenHeader)):
		return http.StatusForbidden, "the page is of another process; reload it"
	default:
		return 0, ""
	}
}

// readAction reads an action from the body of a request.
func readAction(body io.Reader) (a action, do func(*breaker.Breaker), ok bool) {
	decoder := json.NewDecoder(io.LimitReader(body, maxAction))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return a, nil, false
	}
	if _, err := decoder.Token(); err != io.EOF { //nolint:errorlint // Token returns it as it is
		return a, nil, false
	}
	do, ok = actions[a.Action]
	return a, do, ok && a.ID != ""
}
