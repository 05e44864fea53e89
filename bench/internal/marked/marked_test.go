package marked

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTextReplacesWhatStandsBetweenTheLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "README.md")
	const (
		others = "<!-- bench:begin -->\nother\n<!-- bench:end -->\n"
		begin  = "before\n" + others + "<!-- recovery:begin -->\n"
		end    = "<!-- recovery:end -->\nafter\n"
	)
	if err := os.WriteFile(name, []byte(begin+"old\n"+end), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Recovery.Check(name); err != nil {
		t.Error(err)
	}
	for range 2 { // the second time finds what the first one wrote
		if err := Recovery.Update(name, "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if want := begin + "new\n" + end; err != nil || string(got) != want {
		t.Errorf("%v, got\n%s", err, got)
	}
}

func TestAFileWithoutTheLinesIsLeftAlone(t *testing.T) {
	begin, end := Bench.begin(), Bench.end()
	for _, text := range []string{"", begin, end, end + begin, begin + Recovery.end()} {
		if got, err := Bench.between(text, "table"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestAFileThatIsMissingIsAnError(t *testing.T) {
	if err := Bench.Check(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("it can be updated")
	}
}
