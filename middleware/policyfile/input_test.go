package policyfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/middleware/policyfile"
)

func TestWhatIsNoPolicyFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"nothing":         {file("a.yaml", ""), "file is empty"},
		"a comment":       {file("b.yaml", "# nothing yet\n"), "file is empty"},
		"binary":          {file("c.yaml", "\x7fELF\x02\x01\x01\x00\x00"), "not YAML"},
		"UTF-16":          {file("d.yaml", "\xff\xfet\x00a\x00"), "c"},
		"an archive":      {file("e.yaml", "PK\x03\x04\x14\x00"), "not YAML"},
		"prose":           {file("f.yaml", "dear reader"), `"dear reader" is not a mapping`},
		"a list":          {file("g.yaml", "- a\n- b\n"), "a list is not a mapping"},
		"HTML":            {file("h.yaml", "<html><body>404</body></html>"), "is not a mapping"},
		"10 MB":           {file("i.yaml", "targets:\n"+strings.Repeat("  # filler filler\n", 10<<20/18)), "file is too long: must have at most 1MiB"},
		"10 MB of JSON":   {file("j.json", strings.Repeat("[", 10<<20)), "file is too long"},
		"a folder":        {dir, "is a directory"},
		"no such file":    {filepath.Join(dir, "none.yaml"), "no such file"},
		"no such folder":  {filepath.Join(dir, "none", "none.yaml"), "no such file"},
		"a name with \\0": {"a\x00b", "invalid argument"},
	} {
		_, err := policyfile.Load(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.200v", name, err)
		}
		if _, err := policyfile.Watch(t.Context(), c.path); err == nil {
			t.Errorf("%s is followed", name)
		}
	}
}

// A short file can say a lot by aliases and profiles. None takes long or much
// memory; each is refused, or says what it says.
func TestBombsDoNotGoOff(t *testing.T) {
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		before := string(c - 1)
		laughs += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+before+", ", 10), ", ") + "]\n"
	}
	hosts := "[" + strings.TrimSuffix(strings.Repeat("h, ", 20_000), ", ") + "]"
	var aliases, extended strings.Builder
	aliases.WriteString("targets:\n  t: &t {propagate: {hosts: " + hosts + "}}\n")
	extended.WriteString("profiles:\n  p: {propagate: {hosts: " + hosts + "}}\ntargets:\n")
	for i := range 5_000 {
		n := strings.Repeat("x", 1+i/1000) + string(rune('a'+i%26)) + time.Duration(i).String()
		aliases.WriteString("  " + n + ": *t\n")
		extended.WriteString("  " + n + ": {extends: p}\n")
	}
	for name, text := range map[string]string{
		"a billion laughs":        laughs + "targets: {t: {match: *j}}\n",
		"laughs in place of text": laughs + "targets: {t: {propagate: {hosts: *j}}}\n",
		"a circle":                "targets: &t {a: *t}\n",
		"a circle of lists":       "targets: {a: {match: &m [*m]}}\n",
		"a long list, aliased":    aliases.String(),
		"a long list, extended":   extended.String(),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := policyfile.Parse("policies.yaml", []byte(text))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, policyfile.ErrInvalid) {
			t.Errorf("%s: %.200v", name, err)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 1024 {
			t.Errorf("%s took %d MiB of memory in all", name, made)
		}
	}
}

// Kubernetes puts another version of a ConfigMap in place by a swap of links:
// policies.yaml leads to ..data/policies.yaml, and ..data to a folder.
func TestLinksMayBeSwapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		version := func(name, text string) {
			if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755),
				os.WriteFile(filepath.Join(dir, name, "policies.yaml"), []byte(text), 0o644),
				os.Symlink(name, filepath.Join(dir, "..next")),
				os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data"))); err != nil {
				t.Fatal(err)
			}
		}
		version("..1", "targets: {pay: {deadline: {total: 3s}}}")
		f := &followed{t: t, path: filepath.Join(dir, "policies.yaml")}
		if err := os.Symlink("..data/policies.yaml", f.path); err != nil {
			t.Fatal(err)
		}
		live, err := policyfile.Watch(t.Context(), f.path, policyfile.WithEvery(every), policyfile.WithSignals())
		if err != nil {
			t.Fatal(err)
		}
		f.live = live
		defer live.Close()
		version("..2", "targets: {pay: {deadline: {total: 4s}}}")
		if err := os.RemoveAll(filepath.Join(dir, "..1")); err != nil {
			t.Fatal(err)
		}
		f.pass()
		if got := f.total("pay"); got != 4*time.Second {
			t.Errorf("the total is %v", got)
		}
		os.Remove(filepath.Join(dir, "..data"))
		f.pass()
		if err := live.Err(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the link leads nowhere: %v", err)
		}
		version("..3", "targets: {pay: {deadline: {total: 5s}}}")
		f.pass()
		if got := f.total("pay"); got != 5*time.Second || live.Err() != nil {
			t.Errorf("the total is %v: %v", got, live.Err())
		}
	})
}

func TestAFileThatBecomesAFolderOrAPipeIsRefusedAndFollowedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		os.Remove(f.path)
		if err := os.Mkdir(f.path, 0o755); err != nil {
			t.Fatal(err)
		}
		f.pass()
		if err := f.live.Err(); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("a folder: %v", err)
		}
		os.Remove(f.path)
		f.change("targets: {pay: {deadline: {total: 7s}}}")
		if f.total("pay") != 7*time.Second || f.live.Err() != nil {
			t.Errorf("it came back, but: %v", f.live.Err())
		}
	})
}

// A file that is written in place is not taken while it grows, though half of
// it is a file without faults.
func TestAFileIsNotTakenHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, "targets: {pay: on}")
		// Never at the moment of a look, which would meet the file in the middle of one write.
		writing := time.AfterFunc(every-12*time.Millisecond, func() {
			text := "targets:\n  pay: {bulkhead: {limit: 1}}\n"
			for range 9 {
				f.write(text)
				text += "  # more to come\n"
				time.Sleep(5 * time.Millisecond)
			}
			f.write(text + "  stock: on\n")
		})
		defer writing.Stop()
		f.pass()
		if got, want := f.told(), "policies loaded file; policy changed pay; policy added stock"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}
