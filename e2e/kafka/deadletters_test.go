package kafka_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
	"github.com/backstay-go/backstay/retry"
)

type parcel struct{}

var (
	parcelType = actors.NewType[parcel]("parcel")
	deliver    = actors.Declare[string, int](parcelType, "deliver")
	tries      = actors.NewValue[int](parcelType, "delivered")
)

// depot hosts parcels, which cannot be delivered until the road is mended.
type depot struct {
	mended atomic.Bool
	done   atomic.Int32
}

func (d *depot) host() actors.Hosting {
	return actors.Host(parcelType, actors.Settings{Retry: retry.Config{MaxAttempts: 2, Base: time.Millisecond}},
		actors.Handle(deliver, func(ctx context.Context, self actors.Self[parcel], _ string) (int, error) {
			if !d.mended.Load() {
				return 0, actors.Retry(errors.New("the road is closed"), 0)
			}
			n, err := tries.Get(ctx, self)
			if err != nil {
				return 0, err
			}
			d.done.Add(1)
			return n + 1, tries.Set(self, n+1)
		}))
}

// built builds the command.
func built(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "backstay")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/backstay")
	build.Dir = filepath.Join("..", "..") // the module that it belongs to
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// command builds the command and returns what runs it.
func command(t *testing.T) func(args ...string) string {
	t.Helper()
	program := built(t)
	return func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, append([]string{"actors"}, args...)...).CombinedOutput() //nolint:gosec // see above
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return string(out)
	}
}

// lettersOf reads until n letters are there.
func lettersOf(t *testing.T, log *kafka.Log, n int) (all []actors.DeadLetter) {
	t.Helper()
	for limit := time.Now().Add(patience); len(all) < n; time.Sleep(50 * time.Millisecond) {
		all = all[:0]
		for d, err := range log.DeadLetters(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		if time.Now().After(limit) {
			t.Fatalf("%d letters of %d", len(all), n)
		}
	}
	return all
}

func TestADeadLetterIsListedMendedAndRequeuedOnce(t *testing.T) {
	addrs := brokers.StartFake(t)
	c := config(addrs, "post")
	if err := kafka.Setup(t.Context(), c, parcelType.Name()); err != nil {
		t.Fatal(err)
	}
	run := command(t)
	var d depot
	node := start(t, c, "depot", d.host())
	ctx := node.Context(t.Context())
	for _, id := range []string{"lost", "found"} {
		if _, err := deliver.Call(ctx, parcelType.Ref(id), "by van"); !errors.Is(err, actors.ErrPoison) {
			t.Fatal(err)
		}
	}
	log, err := kafka.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	all := lettersOf(t, log, 2)
	if l := all[0]; l.ID != "lost" && l.ID != "found" || l.Reason != "poison" || l.Attempts != 2 || string(l.Argument) != `"by van"` {
		t.Errorf("%+v", l)
	}
	flags := []string{"-kafka", addrs[0], "-app", "post", "-type", "parcel", "-id", "lost"}
	if out := run(append([]string{"deadletters"}, flags...)...); !strings.Contains(out, "parcel/lost.deliver") || strings.Contains(out, "found") || !strings.Contains(out, "the road is closed") || !strings.Contains(out, "1 dead letter\n") {
		t.Errorf("listed:\n%s", out)
	}
	d.mended.Store(true)
	for _, want := range []string{"1 request requeued", "parcel/lost.deliver was already requeued within the window"} {
		if out := run(append([]string{"requeue"}, flags...)...); !strings.Contains(out, want) {
			t.Errorf("requeued:\n%s", out)
		}
	}
	if n, err := deliver.Call(ctx, parcelType.Ref("lost"), "by hand"); err != nil || n != 2 || d.done.Load() != 2 {
		t.Errorf("delivered %d times, %v", n, err)
	}
	if again := lettersOf(t, log, 2); len(again) != 2 {
		t.Errorf("%d letters are left", len(again))
	}
}

// A limit that somebody lowers hits what is on its way already: of a tell, and of
// its dead letter.
func TestATellThatIsTooLargeForTheBrokersIsADeadLetterWithoutItsArgument(t *testing.T) {
	addrs := brokers.StartFake(t)
	c := config(addrs, "post")
	depotType := actors.NewType[struct{}]("depot")
	send := actors.Declare[string, struct{}](depotType, "send")
	if err := kafka.Setup(t.Context(), c, parcelType.Name(), depotType.Name()); err != nil {
		t.Fatal(err)
	}
	var d depot
	d.mended.Store(true)
	node := start(t, c, "depot", d.host(), actors.Host(depotType, actors.Settings{}, actors.Handle(send,
		func(ctx context.Context, _ actors.Self[struct{}], how string) (struct{}, error) {
			return struct{}{}, deliver.Tell(ctx, parcelType.Ref("heavy"), how)
		})))
	ctx := node.Context(t.Context())
	if _, err := deliver.Call(ctx, parcelType.Ref("light"), "by van"); err != nil { // the partitions are owned
		t.Fatal(err)
	}
	log := opened(t, c)
	bound := func(limit string) {
		for _, topic := range []string{"post.parcel", "post.dead"} {
			if err := admin(t, addrs).AlterConfig(sarama.TopicResource, topic, map[string]*string{"max.message.bytes": &limit}, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	bound("2000")
	load := make([]byte, 20_000) // which nobody can compress
	_, _ = rand.Read(load)
	if _, err := send.Call(ctx, depotType.Ref("x"), hex.EncodeToString(load)); err != nil {
		t.Fatal(err)
	}
	l := lettersOf(t, log, 1)[0]
	bound("1048576") // else the command would not go on these topics
	if l.Reason != "too_large" || l.ID != "heavy" || l.Method != "deliver" || !strings.HasPrefix(l.Dest, "parcel/") || l.LeftOut != 40_002 || len(l.Argument) > 0 || !l.Queued.IsZero() {
		t.Errorf("%+v", l)
	}
	const mended = "tell the method anew"
	if err := node.Requeue(ctx, l); err == nil || !strings.Contains(err.Error(), mended) {
		t.Errorf("requeued: %v", err)
	}
	flags := []string{"-kafka", addrs[0], "-app", "post", "-letter", l.CopyKey()}
	program := built(t)
	listed, err := exec.CommandContext(t.Context(), program, append([]string{"actors", "deadletters"}, flags...)...).CombinedOutput() //nolint:gosec // our own
	if err != nil || !strings.Contains(string(listed), "parcel/heavy.deliver") || !strings.Contains(string(listed), "40002 bytes are left out") {
		t.Errorf("%v\n%s", err, listed)
	}
	if out, err := exec.CommandContext(t.Context(), program, append([]string{"actors", "requeue"}, flags...)...).CombinedOutput(); err == nil || !strings.Contains(string(out), mended) { //nolint:gosec // our own
		t.Errorf("requeued: %v\n%s", err, out)
	}
}

// What is no dead letter is an error, and hides none.
func TestStrangersInTheTopicOfDeadLettersAreTold(t *testing.T) {
	l := opened(t, config(brokers.StartFake(t), "post"))
	for _, reason := range []string{"", "undecodable"} {
		acked := make(chan error, 1)
		l.Publish(journal.Message{Topic: "dead", Headers: []journal.Header{{Name: "backstay-reason", Value: []byte(reason)}, {Name: "backstay-source", Value: []byte("a/1")}}},
			func(_ journal.Place, err error) { acked <- err })
		if err := <-acked; err != nil {
			t.Fatal(err)
		}
	}
	bad, good := 0, 0
	for _, err := range l.DeadLetters(t.Context()) {
		if err != nil {
			bad++
		} else {
			good++
		}
	}
	if bad != 1 || good != 1 {
		t.Errorf("%d errors, %d letters", bad, good)
	}
	for range l.DeadLetters(t.Context()) {
		break
	}
}
