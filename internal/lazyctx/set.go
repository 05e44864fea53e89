package lazyctx

// set is a set that mostly has one member, which costs it nothing.
type set[T comparable] struct {
	one  T
	more map[T]struct{}
}

func (s *set[T]) add(v T) {
	var none T
	if s.one == none {
		s.one = v
		return
	}
	if s.more == nil {
		s.more = make(map[T]struct{})
	}
	s.more[v] = struct{}{}
}

// remove reports whether v was a member.
func (s *set[T]) remove(v T) bool {
	var none T
	if s.one == v {
		s.one = none
		return true
	}
	_, found := s.more[v]
	delete(s.more, v)
	return found
}

func (s *set[T]) each(f func(T)) {
	var none T
	if s.one != none {
		f(s.one)
	}
	if s.more == nil {
		return // to range over nothing costs more than to look
	}
	for v := range s.more {
		f(v)
	}
}
