package marked

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTextReplacesWhatStandsBetweenTheLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(name, []byte("before\n"+Begin+"\nold\n"+End+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(name); err != nil {
		t.Error(err)
	}
	for range 2 { // the second time finds what the first one wrote
		if err := Update(name, "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if want := "before\n" + Begin + "\nnew\n" + End + "\nafter\n"; err != nil || string(got) != want {
		t.Errorf("%v, got\n%s", err, got)
	}
}

func TestAFileWithoutTheLinesIsLeftAlone(t *testing.T) {
	for _, text := range []string{"", Begin, End, End + Begin} {
		if got, err := between(text, "table"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestAFileThatIsMissingIsAnError(t *testing.T) {
	if err := Check(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("it can be updated")
	}
}
