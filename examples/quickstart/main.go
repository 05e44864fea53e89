// Quickstart shows in a few seconds what each policy does for real calls. It
// starts two small services on loopback, "payments" and "menu", makes them
// misbehave in one way after the other, and calls them through Backstay. At the
// end the same bad day is lived through three times: with a plain http.Client,
// with one that simply tries again, and with Backstay under it.
//
//	go run ./examples/quickstart
//
// Everything that it prints was counted or measured in that very run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := show(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// show plays all scenes, and after them the bad day.
func show(ctx context.Context, out io.Writer) (err error) {
	s := newStage(out)
	defer func() { err = errors.Join(err, s.close(ctx)) }()

	s.say("Two small services, payments and menu, misbehave; here is what their caller sees.")
	for i, scene := range scenes {
		s.say("\n%d. %s", i+1, scene.title)
		if err := scene.play(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", scene.title, err)
		}
	}
	s.say("\n%d. All together: the same bad day, three times", len(scenes)+1)
	if err := compare(ctx, s, day{length: 1200 * time.Millisecond, calls: 480}); err != nil {
		return err
	}
	s.say("\nEach scene is one function in examples/quickstart; examples/README.md has more stories.")
	return nil
}
