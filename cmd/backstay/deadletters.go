package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/internal/kafkaflag"
)

// letterCommands are what can be done with the dead letters of an application.
var letterCommands = map[string]func(ctx context.Context, log *kafka.Log, f *letterFlags, out io.Writer) error{
	"deadletters": listLetters,
	"requeue":     requeueLetters,
}

// letterFlags say whose letters, and which.
type letterFlags struct {
	brokers, app, actorType, id, letter string
	raw                                 bool
	reach                               kafkaflag.Flags
}

// askLetters does something with dead letters.
func askLetters(command string, args []string, out, errs io.Writer) int {
	var f letterFlags
	set := flag.NewFlagSet(command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.brokers, "kafka", "", "")
	set.StringVar(&f.app, "app", "", "")
	set.StringVar(&f.actorType, "type", "", "")
	set.StringVar(&f.id, "id", "", "")
	set.StringVar(&f.letter, "letter", "", "")
	set.BoolVar(&f.raw, "json", false, "")
	f.reach.Register(set)
	switch err := set.Parse(args); {
	case err != nil:
		return wrong(errs, "actors %s: %v", command, err)
	case set.NArg() > 0:
		return wrong(errs, "actors %s takes no argument %q", command, set.Arg(0))
	case f.brokers == "" || f.app == "":
		return wrong(errs, "actors %s needs -kafka and -app", command)
	case command == "requeue" && f.raw:
		return wrong(errs, "actors requeue has no -json")
	case command == "requeue" && f.actorType == "" && f.letter == "":
		return wrong(errs, "actors requeue needs -type or -letter: which letters")
	}
	return failed(errs, f.do(letterCommands[command], out))
}

// do opens the log and closes it. What the application needs of its topics is its
// own business: one copy is enough to look at.
func (f *letterFlags) do(command func(context.Context, *kafka.Log, *letterFlags, io.Writer) error, out io.Writer) error {
	reach, err := f.reach.Sarama()
	if err != nil {
		return err
	}
	ctx := context.Background()
	opening, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	log, err := kafka.Open(opening, kafka.Config{App: f.app, Brokers: strings.Split(f.brokers, ","), Sarama: reach, Replication: 1})
	if err != nil {
		return err
	}
	return errors.Join(command(ctx, log, f, out), log.Close())
}

// letters goes through those that are meant, each once.
func (f *letterFlags) letters(ctx context.Context, log *kafka.Log) iter.Seq2[actors.DeadLetter, error] {
	return func(yield func(actors.DeadLetter, error) bool) {
		seen := make(map[string]bool)
		for d, err := range log.DeadLetters(ctx) {
			key := d.CopyKey()
			if err == nil && (seen[key] || !f.means(&d)) {
				continue
			}
			if seen[key] = true; !yield(d, err) {
				return
			}
		}
	}
}

func (f *letterFlags) means(d *actors.DeadLetter) bool {
	return (f.actorType == "" || f.actorType == d.Type) && (f.id == "" || f.id == d.ID) && (f.letter == "" || f.letter == d.CopyKey())
}

func listLetters(ctx context.Context, log *kafka.Log, f *letterFlags, out io.Writer) error {
	show, end := showLetters(out)
	if f.raw {
		show, end = writeLetters(out)
	}
	var faults []error
	for d, err := range f.letters(ctx, log) {
		if err != nil {
			faults = append(faults, err)
		} else if err := show(lineOf(&d)); err != nil {
			return err
		}
	}
	return errors.Join(append(faults, end())...)
}

// writeLetters writes letters as lines of JSON.
func writeLetters(out io.Writer) (show func(letterLine) error, end func() error) {
	e := json.NewEncoder(out)
	return func(l letterLine) error { return e.Encode(l) }, func() error { return nil }
}

// showLetters lines letters up.
func showLetters(out io.Writer) (show func(letterLine) error, end func() error) {
	w := columns(out, "LETTER", "GIVEN UP", "REASON", "OF", "ATTEMPTS", "DETAIL")
	n := 0
	show = func(l letterLine) error {
		n++
		_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", l.Letter, when(l.GivenUp), l.Reason, l.subject(), l.Attempts, orNone(l.details()))
		return err
	}
	return show, func() error {
		err := w.Flush()
		fmt.Fprintf(out, "\n%s\n", counted(n, "dead letter"))
		return err
	}
}

// requeueLetters makes the requests of letters again. The letters stay.
func requeueLetters(ctx context.Context, log *kafka.Log, f *letterFlags, out io.Writer) error {
	node, err := actors.Open(ctx, actors.Config{Name: "backstay actors requeue"}, log)
	if err != nil {
		return err
	}
	r := requeuer{asker: node, silent: make(map[string]bool)}
	requeue := func(d actors.DeadLetter) (bool, error) { return r.requeue(ctx, d) }
	return errors.Join(requeueAll(f.letters(ctx, log), requeue, out), node.Stop(ctx))
}

// requeuer makes requests again that are not made again already, as far as their
// owners can be asked.
type requeuer struct {
	asker interface {
		Requeued(ctx context.Context, d actors.DeadLetter) (bool, error)
		Requeue(ctx context.Context, d actors.DeadLetter) error
	}
	silent map[string]bool // types whose owners have not answered: they are not asked again
}

// ownerPatience is how long an owner may take to say whether it knows a request.
const ownerPatience = 5 * time.Second

// requeue reports whether it made a request: not if one was made lately.
func (r *requeuer) requeue(ctx context.Context, d actors.DeadLetter) (made bool, err error) {
	if !r.silent[d.Type] {
		asking, cancel := context.WithTimeout(ctx, ownerPatience)
		known, err := r.asker.Requeued(asking, d)
		cancel()
		if known {
			return false, nil
		}
		r.silent[d.Type] = errors.Is(err, actors.ErrUnanswered)
	}
	return true, r.asker.Requeue(ctx, d)
}

// errNoLetter: whoever names letters expects some, and may have misspelled them.
var errNoLetter = errors.New("no dead letter matches, nothing is requeued; backstay actors deadletters lists them")

// requeueAll goes through letters, and says of which the request is made again.
func requeueAll(letters iter.Seq2[actors.DeadLetter, error], requeue func(actors.DeadLetter) (made bool, err error), out io.Writer) error {
	var faults []error
	n, seen := 0, false
	for d, err := range letters {
		seen = true
		made := false
		if err == nil {
			made, err = requeue(d)
		}
		switch l := lineOf(&d); {
		case err != nil:
			faults = append(faults, err)
		case made:
			n++
			fmt.Fprintf(out, "%s: %s is made again\n", l.Letter, l.subject())
		default:
			fmt.Fprintf(out, "%s: %s was already requeued within the window of the application (%g minutes unless its Config.Window is another): nothing is made\n", l.Letter, l.subject(), actors.DefaultWindow.Minutes())
		}
	}
	if !seen {
		return errNoLetter
	}
	fmt.Fprintf(out, "%s requeued; the letters stay in the topic\n", counted(n, "request"))
	return errors.Join(faults...)
}

func when(t time.Time) string {
	if t.IsZero() {
		return orNone("")
	}
	return t.UTC().Format(time.RFC3339)
}

// letterLine is a letter as a line of JSON.
type letterLine struct {
	Letter    string            `json:"letter"`
	Reason    string            `json:"reason"`
	Detail    string            `json:"detail,omitempty"`
	Type      string            `json:"type,omitempty"`
	ID        string            `json:"id,omitempty"`
	Method    string            `json:"method,omitempty"`
	RequestID string            `json:"request_id,omitempty"`
	Attempts  int               `json:"attempts,omitempty"`
	Queued    time.Time         `json:"queued,omitzero"`
	GivenUp   time.Time         `json:"given_up,omitzero"`
	Baggage   map[string]string `json:"baggage,omitempty"`
	Source    string            `json:"source"`
	Origin    string            `json:"origin,omitempty"`
	Dest      string            `json:"dest,omitempty"`
	LeftOut   int               `json:"left_out,omitempty"` // bytes
	// Argument is as it is where it is JSON, Bytes has it where it is not.
	Argument json.RawMessage `json:"argument,omitempty"`
	Bytes    []byte          `json:"bytes,omitempty"`
}

func lineOf(d *actors.DeadLetter) letterLine {
	l := letterLine{
		Letter: d.CopyKey(), Reason: d.Reason, Detail: d.Detail, Type: d.Type, ID: d.ID, Method: d.Method, RequestID: d.RequestID,
		Attempts: d.Attempts, Queued: d.Queued, GivenUp: d.GivenUp, Baggage: d.Baggage, Source: d.Source, Origin: d.Origin,
		Dest: d.Dest, LeftOut: d.LeftOut,
	}
	if json.Valid(d.Argument) {
		l.Argument = d.Argument
	} else {
		l.Bytes = d.Argument
	}
	return l
}

// details are for people, in one line.
func (l *letterLine) details() string {
	words := strings.Fields(l.Detail)
	if l.LeftOut > 0 {
		words = append(words, fmt.Sprintf("[too large as it was: %d bytes are left out, and it cannot be requeued]", l.LeftOut))
	}
	return strings.Join(words, " ")
}

// subject is what a letter is of.
func (l *letterLine) subject() string {
	if l.Method == "" {
		return cmp.Or(l.Origin, "a record of "+l.Source)
	}
	return l.Type + "/" + l.ID + "." + l.Method
}
