package record_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/backstay-go/backstay/actors/internal/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestEveryKindIsReadBackAsItWasWritten(t *testing.T) {
	seen := make(map[record.Kind]bool)
	for name, r := range samples() {
		b := record.Encode(r)
		got, err := record.Decode(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v, want %+v", name, got, r)
		}
		seen[r.Kind()] = true
	}
	for k := record.KindClientRequest; k <= record.KindLetter; k++ {
		if !seen[k] {
			t.Errorf("no sample of %v", k)
		}
	}
}

func TestGoldenFilesHoldWhatIsWritten(t *testing.T) {
	for name, r := range samples() {
		file := filepath.Join("testdata", name+".hex")
		got := hex.Dump(record.Encode(r))
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is now written as\n%s, was\n%s: logs that exist could not be read", name, got, want)
		}
	}
}

func TestAHeaderIsReadWithoutThePayload(t *testing.T) {
	b := record.Encode(samples()["client-request"])
	whole, payload, err := record.Peek(b)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Kind != record.KindClientRequest || whole.ID != (record.ID{1}) || whole.TTL != 4 || whole.Target != alice {
		t.Errorf("header: %+v", whole)
	}
	for i := range payload {
		payload[i] = 0xff // nobody may look
	}
	if h, _, err := record.Peek(b); err != nil || !reflect.DeepEqual(h, whole) {
		t.Errorf("with a spoiled payload: %+v, %v", h, err)
	}
	if _, err := record.Decode(b); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("decode: %v", err)
	}
}

func TestEveryHeaderCanBePeekedAt(t *testing.T) {
	for name, r := range samples() {
		if h, _, err := record.Peek(record.Encode(r)); err != nil || h.Kind != r.Kind() {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

func TestFieldsOfANewerProgramComeBackUnchanged(t *testing.T) {
	for name, r := range samples() {
		b := record.Encode(r)
		h, payload, _ := record.Peek(b)
		header := b[2 : len(b)-len(payload)]
		newer := append([]byte{b[0], b[1], header[0] + 4}, header[1:]...)
		if header[0] > 0x7f-4 || len(h.Kept) > 0 {
			continue // the length would need two bytes
		}
		newer = append(newer, 0x81, 0x7d, 1, 'x')                // header: field 8000, one byte
		newer = append(append(newer, payload...), 0x82, 0x7d, 7) // payload: field 8001, a number
		got, err := record.Decode(newer)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again := record.Encode(got); !bytes.Equal(again, newer) {
			t.Errorf("%s: %x became %x", name, newer, again)
		}
	}
}

// Acceptance case A59.
func TestA59_WhatIsNoRecordSaysSoAndWhy(t *testing.T) {
	good := record.Encode(samples()["step-end"])
	for _, test := range []struct {
		name string
		in   []byte
		is   error
		says string
	}{
		{"nothing", nil, record.ErrCorrupt, "too few"},
		{"garbage", []byte("hello, world"), record.ErrUnknown, "version 104"},
		{"a newer version", slices.Concat([]byte{2}, good[1:]), record.ErrUnknown, "version 2"},
		{"a newer kind", slices.Concat([]byte{1, 250}, good[2:]), record.ErrUnknown, "kind 250"},
		{"a truncated payload", good[:len(good)-1], record.ErrCorrupt, "payload of step"},
		{"a truncated header", good[:9], record.ErrCorrupt, "header ends before"},
		{"a long length", []byte{1, 1, 0x80, 0}, record.ErrCorrupt, "shortest form"},
		{"an outcome that is none", []byte{1, byte(record.KindStep), 2, 10 << 1, 9}, record.ErrCorrupt, "no outcome"},
		{"a tail without a target", []byte{1, byte(record.KindStep), 2, 10 << 1, 1}, record.ErrCorrupt, "tail calls"},
		{"far too much", make([]byte, record.MaxSize+1), record.ErrCorrupt, "more than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := record.Decode(test.in)
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %v that says %q", err, test.is, test.says)
			}
		})
	}
}

func TestPackedMessagesAreReadBack(t *testing.T) {
	for name, r := range samples() {
		m, ok := r.(*record.Mail)
		if !ok {
			continue
		}
		p := record.Pack(nil, m.Message)
		got, err := record.Unpack(p)
		if err != nil || !reflect.DeepEqual(got, m.Message) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func FuzzDecodeNeverPanicsAndHasOneEncoding(f *testing.F) {
	for _, r := range samples() {
		f.Add(record.Encode(r))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		_, _, _ = record.Peek(in)
		r, err := record.Decode(in)
		if err != nil {
			if !errors.Is(err, record.ErrCorrupt) && !errors.Is(err, record.ErrUnknown) {
				t.Errorf("an error of no kind: %v", err)
			}
			return
		}
		if out := record.Encode(r); !bytes.Equal(out, in) {
			t.Errorf("%x is written again as %x", in, out)
		}
	})
}

func BenchmarkEncodeRequest(b *testing.B) {
	r := samples()["request"]
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = record.Append(out[:0], r)
	}
}

func BenchmarkDecodeRequest(b *testing.B) {
	in := record.Encode(samples()["request"])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record.Decode(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPeekRequest(b *testing.B) {
	in := record.Encode(samples()["request"])
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := record.Peek(in); err != nil {
			b.Fatal(err)
		}
	}
}
