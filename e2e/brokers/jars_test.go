package brokers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// machine gives the test a cache folder and programs of its own; programs are
// shell scripts by name.
func machine(t *testing.T, programs map[string]string) (cache string) {
	t.Helper()
	bin, cache := t.TempDir(), t.TempDir()
	for name, script := range programs {
		text := "#!/bin/sh\nset -e\nPATH=/usr/bin:/bin\n" + script
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", cache) // macOS
	t.Setenv("XDG_CACHE_HOME", cache)
	return cache
}

// The programs as far as this package uses them.
const (
	java = `for properties; do :; done # the last argument
data=$(sed -n s/^log.dirs=//p "$properties"); mkdir -p "$data"; touch "$data/bootstrap.checkpoint"`
	mvn = `echo once >>"$COUNT"; sleep 0.1`
)

func TestAMissingProgramIsToldWithWhatToInstall(t *testing.T) {
	for _, c := range []struct {
		have map[string]string
		want string
	}{
		{nil, "openjdk-17-jre-headless"},
		{map[string]string{"java": java}, "apt-get install maven"},
	} {
		machine(t, c.have)
		if _, err := install(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want a word of %s", err, c.want)
		}
	}
}

func TestAFailedFetchIsToldAndTriedAgain(t *testing.T) {
	cache := machine(t, map[string]string{"java": java, "mvn": "echo no route to anywhere; exit 1"})
	for range 2 {
		if _, err := install(); err == nil || !strings.Contains(err.Error(), "no route to anywhere") {
			t.Errorf("%v, want what mvn said", err)
		}
	}
	whole, err := filepath.Glob(filepath.Join(cache, "*", "kafka-????????????????"))
	if err != nil || len(whole) != 0 {
		t.Errorf("%v %v is taken for whole", whole, err)
	}
}

func TestOfManyWhoWantTheJarsOneFetchesThem(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	t.Setenv("COUNT", count)
	machine(t, map[string]string{"java": java, "mvn": mvn})
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { _, errs[i] = install() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(count); err != nil || string(got) != "once\n" {
		t.Errorf("%q %v: mvn ran more than once, or never", got, err)
	}
}
