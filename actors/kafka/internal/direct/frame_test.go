package direct

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func reading(data []byte) *frames {
	return &frames{from: bufio.NewReader(bytes.NewReader(data)), largest: 1000}
}

func TestFramesAreReadAsTheyWereWritten(t *testing.T) {
	all := []Letter{
		{To: "3/abc-1", Data: []byte("answer")}, {To: "", Data: nil},
		{To: strings.Repeat("x", longestTo), Data: bytes.Repeat([]byte{7}, 1000)},
	}
	var data []byte
	for i := range all {
		data = appendFrame(appendSign(data), &all[i])
	}
	in := reading(data)
	for _, want := range all {
		if sign, err := in.next(); sign != nil || err != nil {
			t.Fatalf("%v, %v instead of a sign of life", sign, err)
		}
		got, err := in.next()
		if err != nil || got.To != want.To || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	}
	if _, err := in.next(); err != io.EOF { //nolint:errorlint // between frames it is that
		t.Error(err)
	}
}

func TestWhatIsNoFrameIsAnError(t *testing.T) {
	whole := appendFrame(nil, &Letter{To: "a", Data: []byte("data")})
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"half a length":                       {whole[:3], io.ErrUnexpectedEOF},
		"a length without a rest":             {whole[:4], io.ErrUnexpectedEOF},
		"a frame without its end":             {whole[:len(whole)-1], io.ErrUnexpectedEOF},
		"an address that is longer than all":  {[]byte{0, 0, 0, 2, 2, 'a'}, errFault},
		"one byte more than the largest":      {[]byte{0, 0, 4, 0xe9, 0}, errFault},
		"a length that no memory is there of": {[]byte{0xff, 0xff, 0xff, 0xff, 0}, errFault},
		"a protocol that is another":          {[]byte("GET / HTTP/1.1\r\n"), errFault},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := reading(c.data).next(); !errors.Is(err, c.want) {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
}

// What is read is never larger than it may be, and written again it is the same.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendSign(appendFrame(nil, &Letter{To: "1/a-1", Data: []byte("x")})))
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 2, 9, 9})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		for in := reading(data); ; {
			m, err := in.next()
			if err != nil {
				break
			}
			if m == nil {
				again = appendSign(again)
				continue
			}
			if len(m.Data) > 1000+longestTo {
				t.Fatalf("%d bytes", len(m.Data))
			}
			again = appendFrame(again, m)
		}
		if !bytes.HasPrefix(data, again) {
			t.Errorf("%x was read as %x", data, again)
		}
	})
}
