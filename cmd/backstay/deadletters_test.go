package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backstay-go/backstay/actors"
)

func TestDeadLettersNeedToKnowWhose(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"deadletters", "needs -kafka and -app"},
		{"deadletters -kafka x:1 -app bank more", `takes no argument "more"`},
		{"deadletters -kafka x:1 -app bank -nothing", "-nothing"},
		{"deadletters -kafka x:1 -app bank -sasl-password secret", "-sasl-password"},
		{"requeue -kafka x:1 -app bank", "needs -type or -letter"},
		{"requeue -kafka x:1 -app bank -type account -json", "has no -json"},
	} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"actors"}, strings.Fields(test.args)...), &out, &errs); code != misuse || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: %d, %s", test.args, code, &errs)
		}
	}
	for flags, want := range map[string]string{"-tls-ca /does/not/exist": "-tls-ca", "-sasl-user me": "-sasl-mechanism"} {
		var out, errs bytes.Buffer
		if code := run(append([]string{"actors", "deadletters", "-kafka", "127.0.0.1:1", "-app", "bank"}, strings.Fields(flags)...), &out, &errs); code != faulty || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d, %s", flags, code, &errs)
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"actors", "deadletters", "-kafka", "127.0.0.1:1", "-app", "b k"}, &out, &errs); code != faulty || !strings.Contains(errs.String(), "app") {
		t.Errorf("%d, %s", code, &errs)
	}
}

func TestARequeueSaysWhatItDid(t *testing.T) {
	lost := actors.DeadLetter{Type: "account", ID: "a", Method: "buy", Source: "account/1", Number: 7}
	unread, refused := errors.New("no letter"), errors.New("stopped")
	for name, test := range map[string]struct {
		letters map[*actors.DeadLetter]error
		requeue error
		known   bool
		out     string
		want    error
	}{
		"one":         {map[*actors.DeadLetter]error{&lost: nil}, nil, false, "account/1#7: account/a.buy is made again\n1 request requeued; the letters stay in the topic\n", nil},
		"twice":       {map[*actors.DeadLetter]error{&lost: nil}, nil, true, "account/1#7: account/a.buy was already requeued within the window of the application (5 minutes unless its Config.Window is another): nothing is made\n0 requests requeued; the letters stay in the topic\n", nil},
		"none":        {nil, nil, false, "", errNoLetter},
		"not read":    {map[*actors.DeadLetter]error{{}: unread}, nil, false, "0 requests requeued; the letters stay in the topic\n", unread},
		"not to send": {map[*actors.DeadLetter]error{&lost: nil}, refused, false, "0 requests requeued; the letters stay in the topic\n", refused},
	} {
		var out bytes.Buffer
		letters := func(yield func(actors.DeadLetter, error) bool) {
			for d, err := range test.letters {
				if !yield(*d, err) {
					return
				}
			}
		}
		err := requeueAll(letters, func(actors.DeadLetter) (bool, error) { return !test.known, test.requeue }, &out)
		if !errors.Is(err, test.want) || out.String() != test.out {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}

// owners know some letters, and answer for some types.
type owners struct {
	known  map[string]bool
	asked  []string
	made   []string
	answer map[string]bool
}

func (o *owners) Requeued(_ context.Context, d actors.DeadLetter) (bool, error) {
	o.asked = append(o.asked, d.Type+"/"+d.ID)
	if !o.answer[d.Type] {
		return false, &actors.CallError{Err: actors.ErrUnanswered}
	}
	return o.known[d.ID], nil
}

func (o *owners) Requeue(_ context.Context, d actors.DeadLetter) error {
	o.made = append(o.made, d.Type+"/"+d.ID)
	return nil
}

// A type that nobody hosts must not cost the patience with owners for each letter.
func TestWhatIsKnownIsNotMadeAgainAndWhoIsSilentIsAskedOnce(t *testing.T) {
	o := &owners{known: map[string]bool{"a": true}, answer: map[string]bool{"account": true}}
	r := requeuer{asker: o, silent: make(map[string]bool)}
	for _, d := range []actors.DeadLetter{{Type: "account", ID: "a"}, {Type: "account", ID: "b"}, {Type: "order", ID: "a"}, {Type: "order", ID: "b"}} {
		made, err := r.requeue(t.Context(), d)
		if err != nil || made == (d.Type == "account" && d.ID == "a") {
			t.Errorf("%s/%s: %v, %v", d.Type, d.ID, made, err)
		}
	}
	if want := []string{"account/a", "account/b", "order/a"}; !slices.Equal(o.asked, want) {
		t.Errorf("asked for %q, want %q", o.asked, want)
	}
	if want := []string{"account/b", "order/a", "order/b"}; !slices.Equal(o.made, want) {
		t.Errorf("made %q, want %q", o.made, want)
	}
}

func TestALetterAsALine(t *testing.T) {
	d := actors.DeadLetter{Type: "account", ID: "a", Method: "buy", Source: "account/1", Number: 7, Argument: []byte(`{"x":1}`), GivenUp: time.Unix(0, 0)}
	l := lineOf(&d)
	if l.Letter != "account/1#7" || string(l.Argument) != `{"x":1}` || l.Bytes != nil || l.subject() != "account/a.buy" {
		t.Errorf("%+v", l)
	}
	if when(d.GivenUp) != "1970-01-01T00:00:00Z" || when(time.Time{}) != "-" {
		t.Error(when(d.GivenUp))
	}
	d = actors.DeadLetter{Source: "account/1", Argument: []byte{0xff}}
	if l = lineOf(&d); l.Argument != nil || len(l.Bytes) != 1 || l.subject() != "a record of account/1" {
		t.Errorf("%+v", l)
	}
	d = actors.DeadLetter{Detail: "too\nlarge", LeftOut: 700}
	if l = lineOf(&d); l.LeftOut != 700 || l.details() != "too large [too large as it was: 700 bytes are left out, and it cannot be requeued]" {
		t.Errorf("%+v: %s", l, l.details())
	}
	f := letterFlags{actorType: "account", id: "a", letter: "account/1#7"}
	if f.means(&d) || !f.means(&actors.DeadLetter{Type: "account", ID: "a", Source: "account/1", Number: 7}) {
		t.Error("the wrong letters are meant")
	}
}
