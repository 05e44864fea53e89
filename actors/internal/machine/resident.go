package machine

// resident is what is in memory of an actor, unless that has neither requests nor
// cells there. Most records need both of its halves, and look it up once.
type resident struct {
	mailbox
	layers
}

// resident is that of an actor, to be changed.
func (s *State) resident(actor string) *resident {
	r := s.residents[actor]
	if r == nil {
		r = s.stranger()
		s.residents[actor] = r
	}
	return r
}

// stranger is that of an actor of which nothing is known.
func (s *State) stranger() *resident {
	last := len(s.spare) - 1
	if last < 0 {
		return new(resident)
	}
	r := s.spare[last]
	s.spare = s.spare[:last]
	return r
}

// shed forgets an actor of which nothing is left to know.
func (s *State) shed(actor string, r *resident) {
	if r.size > 0 || !r.forgotten() {
		return
	}
	delete(s.residents, actor)
	if len(s.spare) < mostSpare {
		*r = resident{}
		s.spare = append(s.spare, r)
	}
}
