package backstay

import (
	"errors"
	"fmt"
)

// FieldError is one fault of a configuration: where, what was found, and what
// is allowed. Validate methods return all of them at once, joined.
type FieldError struct {
	// Path leads to the field by its names in JSON and YAML, for example
	// "retry.budget.ratio".
	Path string
	// Value is what was found.
	Value any
	// Allowed says what is allowed, for example "must be at least 1".
	Allowed string
}

// Error reads, for example, "retry.max_attempts: -1 is not allowed: must be at least 1".
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %v is not allowed: %s", e.Path, e.Value, e.Allowed)
}

// Under returns err with path put in front of the path of every [FieldError]
// that is joined in it. Under(path, nil) is nil.
func Under(path string, err error) error {
	if err == nil {
		return nil
	}
	var all []error
	for _, e := range split(err) {
		if f, ok := errors.AsType[*FieldError](e); ok {
			moved := *f
			moved.Path = path + "." + f.Path
			e = &moved
		}
		all = append(all, e)
	}
	return errors.Join(all...)
}

// split takes joined errors apart.
func split(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, split(e)...)
	}
	return all
}

// Setting is a rule for one field, for [Check].
type Setting struct {
	Path    string
	Value   any
	Valid   bool
	Allowed string
}

// Check returns a [FieldError] for every setting that is not valid, joined;
// nil if all are.
func Check(settings ...Setting) error {
	var all []error
	for _, s := range settings {
		if !s.Valid {
			all = append(all, &FieldError{Path: s.Path, Value: s.Value, Allowed: s.Allowed})
		}
	}
	return errors.Join(all...)
}
