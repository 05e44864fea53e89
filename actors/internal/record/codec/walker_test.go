package codec_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record/codec"
)

// point is closed, shape is open.
type point struct{ X, Y uint64 }

func (p *point) Fields(w *codec.Walker) {
	w.Uint(1, &p.X)
	w.Uint(2, &p.Y)
}

type shape struct {
	Name   string
	Area   int64
	Ok     bool
	ID     [16]byte
	Origin point
	Points []point
	Tip    *point
	IDs    [][16]byte
	Small  uint8
	Wide   uint32
	Blob   []byte
	Inner  *shape
	Kept   codec.Kept
}

func (s *shape) Fields(w *codec.Walker) {
	w.Keep(&s.Kept)
	w.String(2, &s.Name)
	w.Int(4, &s.Area)
	w.Bool(6, &s.Ok)
	w.Fixed(8, &s.ID)
	w.Message(10, &s.Origin)
	codec.List(w, 12, &s.Points)
	codec.Optional(w, 14, &s.Tip)
	codec.Fixeds(w, 16, &s.IDs)
	w.Uint8(18, &s.Small)
	w.Uint32(20, &s.Wide)
	w.Bytes(22, &s.Blob)
	codec.Optional(w, 24, &s.Inner)
}

func full() *shape {
	return &shape{
		Name: "n", Area: -7, Ok: true, ID: [16]byte{9}, Origin: point{1, 2}, Points: []point{{0, 3}, {}, {4, 0}}, Tip: &point{},
		IDs: [][16]byte{{1}, {}}, Small: 255, Wide: 1 << 31, Blob: bytes.Repeat([]byte{7}, 300),
		Inner: &shape{Blob: bytes.Repeat([]byte{8}, 200), Inner: &shape{}},
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for _, s := range []*shape{{}, full()} {
		b := codec.Append([]byte("before"), s)
		b = b[len("before"):]
		var got shape
		if err := codec.Decode(b, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&got, s) {
			t.Errorf("got %+v, want %+v", got, s)
		}
	}
}

func TestTheZeroMessageIsEmpty(t *testing.T) {
	if b := codec.Append(nil, new(shape)); len(b) != 0 {
		t.Errorf("zero is %x", b)
	}
}

func TestUnknownFieldsOfOpenMessagesComeBackInTheirPlace(t *testing.T) {
	in := []byte{
		1 << 1, 5, // before the first known one
		2<<1 | 1, 1, 'n',
		3<<1 | 1, 2, 'a', 'b', // between known ones
		5 << 1, 1,
		6 << 1, 1,
		99<<1 - 128 | 0x80, 1, 3, // after the last
	}
	var s shape
	if err := codec.Decode(in, &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "n" || !s.Ok {
		t.Errorf("known fields: %+v", s)
	}
	if got := codec.Append(nil, &s); !bytes.Equal(got, in) {
		t.Errorf("encoded again: %x, want %x", got, in)
	}
}

func TestFaultsAreRefusedAndSayWhere(t *testing.T) {
	for _, test := range []struct {
		name string
		in   []byte
		want string
	}{
		{"an order that is not ascending", []byte{4 << 1, 2, 2<<1 | 1, 1, 'n'}, "offset 3: field 2 is out of order"},
		{"a field twice", []byte{6 << 1, 1, 6 << 1, 1}, "out of order"},
		{"field zero", []byte{0, 1}, "field 0 is out of order"},
		{"an explicit zero", []byte{6 << 1, 0}, "field 6 zero is written"},
		{"an explicit empty", []byte{2<<1 | 1, 0}, "field 2 empty is written"},
		{"the other form", []byte{2 << 1, 1}, "field 2 is of another form"},
		{"a longer number than needed", []byte{6 << 1, 0x81, 0}, "shortest form"},
		{"a number of 65 bits", append([]byte{4 << 1}, bytes.Repeat([]byte{0xff}, 11)...), "more than 64 bits"},
		{"a number that ends early", []byte{4 << 1, 0x80}, "ends in a number"},
		{"bytes that end early", []byte{2<<1 | 1, 9, 'x'}, "ends before its length"},
		{"an unknown field of a closed message", []byte{10<<1 | 1, 2, 9 << 1, 1}, "field 9 is unknown here"},
		{"a boolean of two", []byte{6 << 1, 2}, "no boolean"},
		{"a byte of 256", []byte{18 << 1, 0x80, 2}, "8 bits"},
		{"33 bits", []byte{20 << 1, 0x80, 0x80, 0x80, 0x80, 0x10}, "32 bits"},
		{"an id of 15 bytes", append([]byte{8<<1 | 1, 15}, make([]byte, 15)...), "16 bytes"},
		{"a zero id", append([]byte{8<<1 | 1, 16}, make([]byte, 16)...), "zero is written"},
		{"ids of 17 bytes", append([]byte{16<<1 | 1, 17}, make([]byte, 17)...), "multiple of 16"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := codec.Decode(test.in, new(shape))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTooManyElementsAreRefused(t *testing.T) {
	s := shape{Points: make([]point, codec.MaxList+1)}
	for i := range s.Points {
		s.Points[i].X = 1
	}
	err := codec.Decode(codec.Append(nil, &s), new(shape))
	if err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("got %v", err)
	}
}

func TestAbysmalNestingIsRefused(t *testing.T) {
	s := new(shape)
	for range 40 {
		s = &shape{Inner: s}
	}
	err := codec.Decode(codec.Append(nil, s), new(shape))
	if err == nil || !strings.Contains(err.Error(), "too deeply") {
		t.Errorf("got %v", err)
	}
}

func FuzzWhatDecodesEncodesToTheSameBytes(f *testing.F) {
	f.Add([]byte{})
	f.Add(codec.Append(nil, full()))
	f.Add([]byte{3<<1 | 1, 2, 'a', 'b', 99<<1 - 128 | 0x80, 1, 3})
	f.Fuzz(func(t *testing.T, in []byte) {
		var s shape
		if codec.Decode(in, &s) != nil {
			return
		}
		if out := codec.Append(nil, &s); !bytes.Equal(out, in) {
			t.Errorf("%x encodes to %x", in, out)
		}
	})
}
