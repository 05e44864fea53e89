package main

import (
	"bytes"
	"errors"
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
		out     string
		want    error
	}{
		"one":         {map[*actors.DeadLetter]error{&lost: nil}, nil, "account/1#7: account/a.buy is made again\n1 request requeued; the letters stay in the topic\n", nil},
		"none":        {nil, nil, "", errNoLetter},
		"not read":    {map[*actors.DeadLetter]error{{}: unread}, nil, "0 requests requeued; the letters stay in the topic\n", unread},
		"not to send": {map[*actors.DeadLetter]error{&lost: nil}, refused, "0 requests requeued; the letters stay in the topic\n", refused},
	} {
		var out bytes.Buffer
		letters := func(yield func(actors.DeadLetter, error) bool) {
			for d, err := range test.letters {
				if !yield(*d, err) {
					return
				}
			}
		}
		err := requeueAll(letters, func(actors.DeadLetter) error { return test.requeue }, &out)
		if !errors.Is(err, test.want) || out.String() != test.out {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
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
	f := letterFlags{actorType: "account", id: "a", letter: "account/1#7"}
	if f.means(&d) || !f.means(&actors.DeadLetter{Type: "account", ID: "a", Source: "account/1", Number: 7}) {
		t.Error("the wrong letters are meant")
	}
}
