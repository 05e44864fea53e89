package direct

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Letter is an answer on its way.
type Letter struct {
	// To is the address of who listens, of at most 255 bytes.
	To string
	// Data is the answer: the bytes that it would have in the topic of answers.
	Data []byte
}

// A frame is the length of the rest in 4 bytes, that of the address in one, the
// address and the data. One whose length is 0 is a sign of life.
const (
	lengthSize = 4
	longestTo  = 255
	// overhead is what a frame has beside its data, at most.
	overhead = lengthSize + 1 + longestTo
)

// size is that of the letter's frame.
func (l *Letter) size() int { return lengthSize + 1 + len(l.To) + len(l.Data) }

// appendFrame adds the frame of a letter.
func appendFrame(to []byte, l *Letter) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(l.size()-lengthSize)) //nolint:gosec // bounded by Config.Largest
	to = append(to, byte(len(l.To)))
	to = append(to, l.To...)
	return append(to, l.Data...)
}

// appendSign adds a sign of life.
func appendSign(to []byte) []byte { return append(to, 0, 0, 0, 0) }

// frames reads frames.
type frames struct {
	from    *bufio.Reader
	largest int // bytes of data
}

// next returns the next letter, nil for a sign of life. An error is the end:
// nothing that follows can be understood.
func (f *frames) next() (*Letter, error) {
	head, err := f.from.Peek(lengthSize)
	if err != nil {
		if len(head) > 0 {
			err = torn(err)
		}
		return nil, err
	}
	length := uint64(binary.BigEndian.Uint32(head))
	_, _ = f.from.Discard(lengthSize) // they are there
	switch {
	case length == 0:
		return nil, nil //nolint:nilnil // a sign of life is neither
	case length > uint64(f.largest+overhead-lengthSize): //nolint:gosec // both positive
		return nil, fmt.Errorf("%w: a frame of %d bytes, more than %d", errFault, length, f.largest+overhead-lengthSize)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(f.from, body); err != nil {
		return nil, torn(err)
	}
	data := 1 + int(body[0])
	if data > len(body) {
		return nil, fmt.Errorf("%w: an address of %d bytes in a frame of %d", errFault, body[0], length)
	}
	return &Letter{To: string(body[1:data]), Data: body[data:]}, nil
}

// torn is the error of a frame that has begun: its end is not one between two.
func torn(err error) error {
	if err == io.EOF { //nolint:errorlint // as io.ReadFull returns it
		return io.ErrUnexpectedEOF
	}
	return err
}
