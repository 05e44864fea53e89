package machine

import "github.com/backstay-go/backstay/actors/internal/record/codec"

// archive keeps answers, encoded, one behind the other on pages. Most are
// dropped in about the order in which they came; a page is used again when none
// of its answers is kept.
type archive struct {
	pages  []page
	blank  []uint32
	filled uint32 // the page that is being filled
	walker codec.Walker
}

// page is a piece of memory with answers.
type page struct {
	text []byte
	kept int // answers
}

// passage is where something is in the archive. The zero one is empty.
type passage struct{ page, at, size uint32 }

// pageSize is that of a page, unless one answer alone needs more.
const pageSize = 16 << 10

// mostBlank is how many pages are kept that nothing is on.
const mostBlank = 64

// put keeps an answer.
func (a *archive) put(m codec.Message) passage {
	if len(a.pages) == 0 {
		a.turn(0)
	}
	p := &a.pages[a.filled]
	at, room := len(p.text), cap(p.text)
	text := a.walker.Append(p.text, m)
	size := len(text) - at
	if cap(text) != room { // it did not fit
		a.turn(size)
		p = &a.pages[a.filled]
		text, at = append(p.text, text[at:]...), 0
	}
	if size == 0 {
		return passage{}
	}
	p.text = text
	p.kept++
	return passage{page: a.filled, at: uint32(at), size: uint32(size)} //nolint:gosec // at most that of a record
}

// get is what was kept. It must not be changed, and is good until it is dropped.
func (a *archive) get(p passage) []byte {
	if p.size == 0 {
		return nil
	}
	return a.pages[p.page].text[p.at : p.at+p.size]
}

// drop forgets it.
func (a *archive) drop(p passage) {
	if p.size == 0 {
		return
	}
	from := &a.pages[p.page]
	if from.kept--; from.kept == 0 && p.page != a.filled {
		a.wipe(p.page)
	}
}

// turn begins a page with room for so many bytes.
func (a *archive) turn(size int) {
	if len(a.pages) > 0 && a.pages[a.filled].kept == 0 {
		a.wipe(a.filled)
	}
	if last := len(a.blank) - 1; last >= 0 {
		a.filled = a.blank[last]
		a.blank = a.blank[:last]
	} else {
		a.filled = uint32(len(a.pages)) //nolint:gosec // as many as memory holds
		a.pages = append(a.pages, page{})
	}
	if p := &a.pages[a.filled]; cap(p.text) < size || p.text == nil {
		p.text = make([]byte, 0, max(size, pageSize))
	}
}

// wipe makes a page blank.
func (a *archive) wipe(n uint32) {
	p := &a.pages[n]
	if p.text = p.text[:0]; cap(p.text) > pageSize || len(a.blank) >= mostBlank {
		p.text = nil
	}
	a.blank = append(a.blank, n)
}
