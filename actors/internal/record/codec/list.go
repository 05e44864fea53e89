package codec

import (
	"encoding/binary"
	"math"
)

// MaxList is the largest number of elements of a list: an empty element takes
// one byte of input and much more of memory.
const MaxList = 1 << 17

// element is a pointer to T that describes its fields.
type element[T any] interface {
	*T
	Message
}

// List is field n, a sequence of at most [MaxList] messages.
func List[T any, P element[T]](w *Walker, n uint64, v *[]T) { list[T, P](w, n, v, MaxList) }

// LongList is a [List] without that limit, for what nobody else writes.
func LongList[T any, P element[T]](w *Walker, n uint64, v *[]T) { list[T, P](w, n, v, math.MaxInt) }

func list[T any, P element[T]](w *Walker, n uint64, v *[]T, limit int) {
	if w.next > most(n) {
		return
	}
	if !w.reading {
		if w.place(n); len(*v) > 0 {
			w.tag(n<<1 | 1)
			all := w.Open()
			for i := range *v {
				w.sized(P(&(*v)[i]))
			}
			w.Close(all)
		}
		return
	}
	if !w.find(n, 1) {
		return
	}
	end := w.until()
	if end == w.at {
		w.fail(n, emptyLeftOut)
	}
	outer, ok := w.enter(end)
	if !ok {
		w.peek()
		return
	}
	for w.err == nil && w.at < w.end {
		if len(*v) == limit {
			w.fail(n, "has too many elements")
			break
		}
		end := w.until()
		*v = append(*v, *new(T))
		w.inside(end, P(&(*v)[len(*v)-1]))
	}
	w.leave(outer)
	w.peek()
}

// Optional is field n, a message that may be absent; it is there, perhaps
// empty, where v is not nil. What v points at before it is read is room for it.
func Optional[T any, P element[T]](w *Walker, n uint64, v *P) {
	room := *v
	if w.reading {
		*v = nil
	}
	if w.next > most(n) {
		return
	}
	if !w.reading {
		if w.place(n); *v != nil {
			w.nested(n, *v, true)
		}
		return
	}
	if !w.find(n, 1) {
		return
	}
	if room == nil {
		room = new(T)
	}
	*room = *new(T)
	*v = room
	w.inside(w.until(), room)
	w.peek()
}

// Fixeds is field n, a sequence of 16 bytes each.
func Fixeds[T ~[16]byte](w *Walker, n uint64, v *[]T) {
	if !w.reading {
		if w.place(n); len(*v) > 0 {
			w.tag(n<<1 | 1)
			w.out = binary.AppendUvarint(w.out, uint64(16*len(*v)))
			for _, one := range *v {
				w.out = append(w.out, one[:]...)
			}
		}
		return
	}
	if !w.find(n, 1) {
		return
	}
	b := w.filled(n)
	if len(b)%16 != 0 {
		w.fail(n, "is not a multiple of 16 bytes long")
		w.peek()
		return
	}
	for ; len(b) > 0; b = b[16:] {
		*v = append(*v, T([16]byte(b[:16])))
	}
	w.peek()
}
