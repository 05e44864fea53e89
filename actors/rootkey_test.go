package actors_test

import (
	"context"
	"testing"

	"github.com/backstay-go/backstay/actors"
)

// Two customers may choose the same key: what is done outside for one of them
// must not be taken for what is done for the other.
func TestKeysForOutsideDifferBetweenActorsAndMethodsWhoseClientsChoseTheSameKey(t *testing.T) {
	inBubble(t, func(c *cluster) {
		own := func(_ context.Context, self self, _ none) (string, error) { return self.IdempotencyKey("charge"), nil }
		pay, hostedPay := does("pay", own)
		repay, hostedRepay := does("repay", own)
		ctx := c.things(hostedPay, hostedRepay)
		seen := make(map[string]string)
		for _, id := range []string{"a", "b"} {
			for _, m := range []actors.Method[none, string, thing]{pay, repay} {
				key, err := m.Call(ctx, Thing.Ref(id), none{}, actors.IdempotencyKey("order 1"))
				again, errAgain := m.Call(ctx, Thing.Ref(id), none{}, actors.IdempotencyKey("order 1"))
				if err != nil || errAgain != nil || key != again {
					t.Errorf("%s.%s: %q, %v, then %q, %v", id, m.Name(), key, err, again, errAgain)
				}
				if first, twice := seen[key]; twice {
					t.Errorf("%s.%s has the key of %s", id, m.Name(), first)
				}
				seen[key] = id + "." + m.Name()
			}
		}
	})
}
