package redis

import "github.com/backstay-go/backstay"

// Option sets a collaborator of a [Store].
type Option func(*Store)

// WithScope says on whose behalf the store acts, and who is told of
// [idempotency.StoreFailed] and [idempotency.LetThrough]. Give it the scope
// that the guard has.
func WithScope(s *backstay.Scope) Option { return func(store *Store) { store.scope = s } }
