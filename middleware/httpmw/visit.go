package httpmw

import (
	"context"
	"net/http"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/middleware"
)

// visit is one request on its way through a [Handler].
type visit struct {
	request   *http.Request
	admission *middleware.Admission // the one in force when it came
	limits    middleware.Limits
	relay     middleware.Relay
	answer    openAnswer
}

// newVisit returns the visit of a request.
func newVisit(w http.ResponseWriter, req *http.Request, by *middleware.Admission) *visit {
	v := &visit{request: req, admission: by}
	a := &v.answer.answer
	a.w, a.limits, a.relay = w, &v.limits, &v.relay
	if h := w.Header(); len(h) > 0 {
		a.outer = h.Clone()
	}
	if by.LeavesHandlers() && !connects(req) { // the handler is left behind when its time has passed
		a.own = make(http.Header)
		for name, values := range a.outer {
			a.own[name] = append([]string(nil), values...)
		}
	}
	return v
}

// writer is what the handler writes its answer to.
func (v *visit) writer() http.ResponseWriter {
	if v.answer.own != nil {
		return &v.answer.answer
	}
	return &v.answer
}

// took takes over what a handler has found out about its own copy of the
// request: net/http removes the files of a form, and those outside want to know
// the pattern that matched.
func (v *visit) took(req *http.Request) {
	if !v.answer.enter() {
		if req.MultipartForm != nil {
			_ = req.MultipartForm.RemoveAll() // nobody else is left to do it
		}
		return
	}
	defer v.answer.leave()
	v.request.Pattern = req.Pattern
	if v.request.MultipartForm == nil {
		v.request.MultipartForm = req.MultipartForm
	}
}

// unanswered is the error of a handler that has returned without a word,
// because its context had ended.
func (v *visit) unanswered(ctx context.Context) error {
	if v.answer.begun() {
		return nil
	}
	return backstay.ContextError(ctx)
}

// end completes the answer. Where there is none, err is why; where one has
// begun that will not be completed, the connection is cut, so that the half of
// it is not taken for all.
func (v *visit) end(err error) {
	if err == nil {
		v.answer.finish()
		return
	}
	begun, keyed := v.answer.abandon()
	if begun {
		panic(http.ErrAbortHandler)
	}
	v.answer.reset()
	p := problemOf(err)
	if keyed && p.Status == http.StatusServiceUnavailable {
		p.wait = max(p.wait, comeBack) // by then there may be the answer
	}
	p.write(v.answer.w)
}
