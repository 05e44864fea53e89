package lazyctx

// hooks are functions under numbers, so that whoever adds one can take it back.
// Mostly there is one, which costs nothing.
type hooks struct {
	last uint32 // number given
	is   uint32 // the number of one
	one  func()
	more map[uint32]func()
}

// add returns the number of f.
func (h *hooks) add(f func()) uint32 {
	h.last++
	if h.one == nil {
		h.one, h.is = f, h.last
		return h.last
	}
	if h.more == nil {
		h.more = make(map[uint32]func())
	}
	h.more[h.last] = f
	return h.last
}

// remove reports whether there was a function under number.
func (h *hooks) remove(number uint32) bool {
	if h.one != nil && h.is == number {
		h.one = nil
		return true
	}
	_, found := h.more[number]
	delete(h.more, number)
	return found
}

// clear takes all functions out; their numbers are not given again.
func (h *hooks) clear() { h.one, h.more = nil, nil }

func (h *hooks) each(f func(func())) {
	if h.one != nil {
		f(h.one)
	}
	if h.more == nil {
		return // to range over nothing costs more than to look
	}
	for _, hook := range h.more {
		f(hook)
	}
}
