package idempotency_test

import (
	"context"
	"encoding/gob"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/idempotency"
)

type shipment struct {
	Order string
	Boxes []int
}

func TestAMessageThatComesTwiceIsHandledOnce(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{Required: true})
	r := idempotency.Request{Key: "message-1", Scope: []string{"orders"}}
	runs := 0
	for i := range 3 {
		got, replayed, err := idempotency.Do(t.Context(), guard, r, func(context.Context) (shipment, error) {
			runs++
			return shipment{Order: "42", Boxes: []int{1, 2}}, nil
		})
		if err != nil || replayed != (i > 0) || got.Order != "42" || len(got.Boxes) != 2 {
			t.Errorf("delivery %d: %+v, replayed %t, %v", i+1, got, replayed, err)
		}
	}
	if runs != 1 {
		t.Errorf("it was handled %d times", runs)
	}
}

func TestAMessageWhoseHandlingFailedIsHandledAgain(t *testing.T) {
	guard, failure := newGuard(t, idempotency.GuardConfig{}), errors.New("failed")
	r := idempotency.Request{Key: "message-1"}
	if v, replayed, err := idempotency.Do(t.Context(), guard, r, func(context.Context) (int, error) { return 7, failure }); err != failure || replayed || v != 7 {
		t.Errorf("got %d, %t, %v", v, replayed, err)
	}
	if v, replayed, err := idempotency.Do(t.Context(), guard, r, func(context.Context) (int, error) { return 8, nil }); err != nil || replayed || v != 8 {
		t.Errorf("then %d, %t, %v", v, replayed, err)
	}
}

func TestAConsumerThatIsStoppedStopsItsWorkWhereItSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(t, idempotency.GuardConfig{Grace: idempotency.NoGrace})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, _, err := idempotency.Do(ctx, guard, idempotency.Request{Key: "k"}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if _, replayed, err := idempotency.Do(t.Context(), guard, idempotency.Request{Key: "k"}, func(context.Context) (int, error) { return 1, nil }); err != nil || replayed {
			t.Errorf("the key was not freed: %t, %v", replayed, err)
		}
	})
}

func TestAnotherCodec(t *testing.T) {
	guard := newGuard(t, idempotency.GuardConfig{}, idempotency.WithCodec(gobCodec{}))
	for range 2 {
		got, _, err := idempotency.Do(t.Context(), guard, idempotency.Request{Key: "k"}, func(context.Context) (complex128, error) {
			return 1 + 2i, nil // JSON cannot
		})
		if err != nil || got != 1+2i {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

type gobCodec struct{}

func (gobCodec) Marshal(v any) ([]byte, error) {
	var b strings.Builder
	err := gob.NewEncoder(&b).Encode(v)
	return []byte(b.String()), err
}

func (gobCodec) Unmarshal(data []byte, v any) error {
	return gob.NewDecoder(strings.NewReader(string(data))).Decode(v)
}

func TestAnAnswerThatCannotBeEncodedIsAnErrorAndTheWorkIsNotRepeated(t *testing.T) {
	for name, codec := range map[string]idempotency.Codec{
		"the codec fails": brokenCodec{}, "the codec panics": brokenCodec{panics: true},
	} {
		t.Run(name, func(t *testing.T) {
			guard := newGuard(t, idempotency.GuardConfig{}, idempotency.WithCodec(codec))
			r := idempotency.Request{Key: "k"}
			v, replayed, err := idempotency.Do(t.Context(), guard, r, func(context.Context) (int, error) { return 7, nil })
			if v != 7 || replayed || err == nil || backstay.Classify(err).Class != backstay.Fault {
				t.Errorf("got %d, %t, %v, want 7 and a fault", v, replayed, err)
			}
			_, _, err = idempotency.Do(t.Context(), guard, r, func(context.Context) (int, error) {
				t.Error("the work was repeated")
				return 0, nil
			})
			if !errors.Is(err, idempotency.ErrAnswerNotKept) {
				t.Errorf("then %v, want ErrAnswerNotKept", err)
			}
		})
	}
}

type brokenCodec struct{ panics bool }

func (c brokenCodec) Marshal(any) ([]byte, error) {
	if c.panics {
		panic("no")
	}
	return nil, errors.New("no")
}

func (brokenCodec) Unmarshal([]byte, any) error { return errors.New("no") }

func TestAnAnswerThatCannotBeDecodedIsAFault(t *testing.T) {
	guard, r := newGuard(t, idempotency.GuardConfig{}), idempotency.Request{Key: "k"}
	if _, _, err := idempotency.Do(t.Context(), guard, r, func(context.Context) (string, error) { return "text", nil }); err != nil {
		t.Fatal(err)
	}
	_, replayed, err := idempotency.Do(t.Context(), guard, r, func(context.Context) (int, error) {
		t.Error("the work was repeated")
		return 0, nil
	})
	if !replayed || err == nil || backstay.Classify(err).Class != backstay.Fault {
		t.Errorf("got %t, %v, want a fault", replayed, err)
	}
}
