// Quickstart shows in a few seconds what each policy does for real calls: it
// starts two small services on loopback, "payments" and "menu", makes them
// misbehave in one way after the other, and calls them through Backstay. At the
// end the same bad day is lived through twice, with a plain http.Client and
// with a Backstay transport under it.
//
//	go run ./examples/quickstart
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run() error {
	services := startServices()
	defer services.close()
	for i, s := range scenes {
		fmt.Printf("\n%d. %s\n", i+1, s.title)
		if err := s.play(services); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
	}
	fmt.Printf("\n%d. The same bad day, twice\n", len(scenes)+1)
	return compare(services)
}
