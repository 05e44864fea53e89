package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/backstay-go/backstay/idempotency"
)

// once charges the card, or gives the answer of the request that did. This is
// all of the server's side: the key, what the request asks for, the work.
func (b *bank) once(req *http.Request) (idempotency.Answer, bool, error) {
	key, err := idempotency.ParseFields(req.Header.Values(idempotency.DefaultHeader))
	if err != nil {
		return idempotency.Answer{}, false, err
	}
	body, fingerprint, err := b.guard.ReadBody(req.Body, req.Method, route, customer)
	if err != nil {
		return idempotency.Answer{}, false, err
	}
	return b.guard.Run(req.Context(), idempotency.Request{
		Key: key, Scope: []string{customer, route}, Fingerprint: fingerprint,
	}, func(ctx context.Context) (idempotency.Answer, error) { return b.charge(ctx, body) })
}

// refuse answers with the status that the error asks for.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if refused, ok := errors.AsType[*idempotency.Error](err); ok {
		status = refused.HTTPStatus()
		if seconds := (refused.RetryAfter + time.Second - 1) / time.Second; seconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		}
	} else if errors.Is(err, errBadOrder) {
		status = http.StatusBadRequest
	}
	http.Error(w, err.Error(), status)
}
