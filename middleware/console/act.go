package console

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/backstay-go/backstay/breaker"
	"github.com/backstay-go/backstay/internal/guard"
)

// newGuard lets nobody act; see [WithActions].
func newGuard() *guard.Guard {
	return guard.New(guard.Words{
		Name: "console", Header: "X-Console-Token",
		Off:    "actions are off; see console.WithActions",
		Source: "the one of the page's meta element token",
		Stale:  "the page is of another process; reload it",
	})
}

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

// act does something to a breaker, if everything is in order.
func (c *Console) act(w http.ResponseWriter, req *http.Request) {
	if c.guard.Refuse(w, req) {
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
